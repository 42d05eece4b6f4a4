import { findFrameResource } from '../../core/frame-resources.ts';
import { TemplateError, type TemplateMistake } from '../../core/template-engine.ts';
import { toMistakeError } from './template-mistakes.ts';

/** The texts around each page of a PDF. */
interface Frames {
  header?: string | null;
  footer?: string | null;
}

/** Returns the style sheets, fonts and pictures of header and footer that cannot be loaded, with their places in the texts. */
export function findFrameMistakes({ header, footer }: Frames): TemplateMistake[] {
  return Object.entries({ header, footer }).flatMap(([name, text]) => {
    const found = text ? findFrameResource(text) : null;
    if (!found) return [];
    const before = text!.slice(0, found.index).split('\n');
    return {
      path: `settings.${name}`,
      message: `Header and footer can load nothing but data URLs: ${found.what}`,
      line: before.length,
      column: before.at(-1)!.length + 1,
    };
  });
}

/** Throws BAD_USER_INPUT naming the setting whose text loads something. The place in a rendered text is unknown. */
export function checkFrames(frames: Frames, { isRendered = false } = {}): void {
  const mistakes = findFrameMistakes(frames);
  if (mistakes.length > 0)
    throw toMistakeError(
      new TemplateError(isRendered ? mistakes.map((mistake) => ({ ...mistake, line: null, column: null })) : mistakes),
    );
}
