declare module 'nunjucks';
