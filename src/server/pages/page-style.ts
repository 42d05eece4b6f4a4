/** Style of all pages of the service. */
export const PAGE_STYLE = `:root {
  color-scheme: light dark;
  --line: color-mix(in srgb, currentColor 18%, transparent);
  --accent: light-dark(#2563eb, #6ea0ff);
  --problem: light-dark(#c81e1e, #ff8080);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; }
header, main { max-width: 76rem; margin: 0 auto; padding: 0 1.25rem; }
header { display: flex; flex-wrap: wrap; align-items: baseline; gap: .25rem 1.5rem; padding-block: 1.5rem 1rem; }
header p { margin: 0 0 0 auto; }
h1 { margin: 0; font-size: 1.6rem; letter-spacing: -0.02em; }
h2 { margin: 0 0 .75rem; font-size: 1.1rem; }
main { display: grid; gap: 1.25rem; align-items: start; padding-bottom: 1.5rem; }
main:not(:has(aside)) { display: block; max-width: 44rem; padding-top: 3rem; }
main:not(:has(aside)) .card { max-width: 24rem; }
@media (min-width: 60rem) {
  main:has(aside) { grid-template-columns: minmax(20rem, 1fr) 20rem; }
  main:has(#login:not([hidden])) { grid-template-columns: 24rem 1fr; }
  .scroll { max-height: calc(100vh - 13rem); }
}
/* The sentence below a heading. */
.lead { margin: .25rem 0 2rem; opacity: .75; }
.card { border: 1px solid var(--line); border-radius: .75rem; padding: 1.25rem; }
label { display: block; margin-bottom: .75rem; font-size: .9rem; }
input {
  display: block; width: 100%; margin-top: .25rem; padding: .5rem .6rem; font: inherit;
  border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: inherit;
}
label.choice input { display: inline; width: auto; margin: 0 .4rem 0 0; }
button, .button {
  padding: .45rem .9rem; font: inherit; border: 0; border-radius: .4rem;
  background: light-dark(#2563eb, #2f66d8); color: #fff; cursor: pointer; white-space: nowrap;
}
button.quiet { background: none; color: var(--accent); padding-inline: .4rem; }
#providers { display: grid; gap: .5rem; margin: 1rem 0 0; border-top: 1px solid var(--line); padding-top: 1rem; }
#providers a { text-align: center; text-decoration: none; }
a.quiet { background: none; color: var(--accent); border: 1px solid var(--line); }
button:disabled { opacity: .5; cursor: default; }
.button { margin: 0; font-size: inherit; }
.button input { position: absolute; opacity: 0; width: 1px; height: 1px; }
:is(input, button, a):focus-visible, .button:focus-within { outline: 2px solid var(--accent); outline-offset: 2px; }
.problem, #problem { color: var(--problem); }
#problem { margin: .75rem 0 0; }
:is(#problem, #hint, #notice, #more, #providers):empty { display: none; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: .75rem; margin-bottom: .75rem; }
.bar h2 { margin: 0 auto 0 0; }
.bar input[type=search] { width: 14rem; max-width: 100%; margin: 0; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th { position: sticky; top: 0; background: Canvas; text-align: left; font-weight: 600; font-size: .85rem; opacity: .8; }
th, td { padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--line); }
td time { white-space: nowrap; }
td:last-child { text-align: right; white-space: nowrap; }
.number { text-align: right; }
a { color: var(--accent); }
td a + a, td a + button { margin-left: .5rem; }
#operations { list-style: none; margin: 0; padding: 0; display: grid; gap: .6rem; }
#operations span { display: block; font-size: .85rem; opacity: .8; }
.cards { list-style: none; margin: 0; padding: 0; display: grid; gap: .75rem; }
.cards p { margin: .25rem 0; }
progress { width: 100%; accent-color: var(--accent); }
aside { display: grid; gap: 1.25rem; min-width: 0; }
section { min-width: 0; }
.scroll { overflow: auto; }
@media (max-width: 40rem) {
  th:nth-child(2), td:nth-child(2) { display: none; }
  .bar input[type=search] { flex: 1 0 100%; order: 1; }
}
nav { display: grid; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); gap: .6rem; }
nav a {
  display: block; padding: .7rem .9rem; border: 1px solid var(--line); border-radius: .75rem;
  color: inherit; text-decoration: none;
}
nav a:hover { border-color: var(--accent); }
nav span { display: block; font-size: .85rem; opacity: .75; }
/* Next to the workspace, each link has its own line. */
main:has(#workspace:not([hidden])) nav { gap: 0; }
main:has(#workspace:not([hidden])) nav a { border: 0; padding: .25rem 0; }
main:has(#workspace:not([hidden])) nav span { display: none; }
`;
