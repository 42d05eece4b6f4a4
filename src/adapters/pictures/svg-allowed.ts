/* The permitted parts of a sanitised SVG. Everything else is left out. */

const words = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/));

/** Elements of the SVG namespace that are kept. The content of others is left out with them. */
export const ALLOWED_ELEMENTS = words(`
  svg g defs symbol use switch title desc path rect circle ellipse line polyline polygon image text tspan textPath
  linearGradient radialGradient stop pattern clipPath mask marker
  filter feBlend feColorMatrix feComposite feDropShadow feFlood feGaussianBlur feMerge feMergeNode feOffset`);

/** Elements that are left out, but not their content. */
export const UNWRAPPED_ELEMENTS = words('a');

/** Elements that run code, load files or contain documents of other types, in any namespace, in lower case. */
export const REFUSED_ELEMENTS = words(`
  script foreignobject iframe frame object embed applet audio video source track link meta base form html body handler
  listener`);

/** Properties that both an attribute and a declaration in `style` may set. */
export const ALLOWED_PROPERTIES = words(`
  alignment-baseline baseline-shift clip-path clip-rule color color-interpolation color-interpolation-filters direction
  display dominant-baseline fill fill-opacity fill-rule filter flood-color flood-opacity font-family font-size
  font-stretch font-style font-variant font-weight image-rendering letter-spacing marker marker-end marker-mid
  marker-start mask mask-type mix-blend-mode opacity overflow paint-order shape-rendering stop-color stop-opacity stroke
  stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin stroke-miterlimit stroke-opacity stroke-width
  text-anchor text-decoration text-rendering unicode-bidi vector-effect visibility word-spacing writing-mode`);

/** Attributes that are not properties. */
export const ALLOWED_ATTRIBUTES = words(`
  id transform d x y x1 x2 y1 y2 cx cy r rx ry fx fy fr width height points viewBox preserveAspectRatio version offset dx dy rotate
  textLength lengthAdjust startOffset pathLength gradientUnits gradientTransform spreadMethod patternUnits
  patternContentUnits patternTransform clipPathUnits maskUnits maskContentUnits markerUnits markerWidth markerHeight
  refX refY orient filterUnits primitiveUnits in in2 result stdDeviation mode type values operator k1 k2 k3 k4`);

/** Functions that a value may call. */
export const ALLOWED_FUNCTIONS = words(`
  url rgb rgba hsl hsla matrix translate translatex translatey scale scalex scaley rotate skewx skewy calc`);
