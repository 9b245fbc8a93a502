"""How the page looks: quiet, dense, in the window's colours, light and dark."""

STYLE = """
:root {
  --background: #FFFFFF; --text: #1A1C1F; --secondary: #5F6670; --hair: #E3E6EA; --accent: #3D5AFE;
  --permutation: #8A919B; --gaussian: #B3A06B; --projection: #3D5AFE; --rotation: #7A5195;
  --untrained: #2F8F83; --observed: #1A1C1F; --true: #2F8F83; color-scheme: light dark;
}
@media (prefers-color-scheme: dark) {
  :root {
    --background: #1B1E23; --text: #E6E8EB; --secondary: #9AA3AD; --hair: #2C3138; --accent: #8C9EFF;
    --permutation: #9AA3AD; --gaussian: #CDBB82; --projection: #8C9EFF; --rotation: #B794D0;
    --untrained: #5CC0B3; --observed: #E6E8EB; --true: #5CC0B3;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1000px; padding: 32px 32px 64px; background: var(--background);
  color: var(--text);
  font: 13px/1.5 "Gramscope Sans", Inter, system-ui, "Segoe UI", "DejaVu Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1 { font-size: 20px; font-weight: 600; margin: 0; }
h2 {
  font-size: 15px; font-weight: 600; margin: 32px 0 4px; padding-top: 16px;
  border-top: 1px solid var(--hair);
}
p { margin: 4px 0 8px; max-width: 78ch; }
.quiet, figcaption { color: var(--secondary); }
.conclusion { font-size: 20px; line-height: 1.35; max-width: 60ch; margin: 24px 0 16px; }
.failed { color: #B3261E; }
ul { margin: 4px 0; padding-left: 18px; }
li { margin: 2px 0; max-width: 92ch; }
figure { margin: 8px 0; }
figcaption { max-width: 92ch; margin-top: 4px; }
.row { display: flex; flex-wrap: wrap; gap: 16px 24px; }
svg { max-width: 100%; height: auto; display: block; }
svg text { fill: var(--secondary); font-size: 11px; }
svg text.title { fill: var(--text); font-size: 13px; }
svg text.inside { fill: #1A1C1F; font-size: 10px; text-anchor: middle; }
svg text.light { fill: #FFFFFF; }
.hair { stroke: var(--hair); fill: none; }
.axis { stroke: var(--secondary); fill: none; }
.ring { fill: none; stroke: #1A1C1F; stroke-width: 1.4; pointer-events: none; }
.ring.light { stroke: #FFFFFF; }
.line { fill: none; stroke: var(--c); stroke-width: 1.5; }
.bar { fill: none; stroke: var(--c); stroke-width: 1.6; opacity: .8; }
.band { fill: var(--c); opacity: .18; }
.column { fill: var(--c); opacity: .85; }
.dot { fill: var(--c); }
.dot.hollow { fill: var(--background); stroke: var(--c); stroke-width: 1.2; }
.reference { --c: var(--secondary); stroke-dasharray: 4 3; }
.limit { --c: var(--hair); }
.permutation { --c: var(--permutation); }
.gaussian { --c: var(--gaussian); }
.projection { --c: var(--projection); }
.rotation { --c: var(--rotation); }
.untrained { --c: var(--untrained); }
.observed, .keys { --c: var(--observed); }
.true { --c: var(--true); }
.solver, .standardised { --c: var(--rotation); }
.key {
  display: inline-block; width: 16px; height: 3px; vertical-align: middle; margin: 0 5px 2px 2px;
  background: var(--c);
}
.key.point { width: 7px; height: 7px; border-radius: 50%; }
.entry { display: inline-block; margin-right: 16px; }
table { border-collapse: collapse; margin: 8px 0; }
th, td { text-align: right; padding: 2px 8px 2px 0; white-space: nowrap; font-weight: 400;
  vertical-align: top; line-height: 1.35; }
th { color: var(--secondary); border-bottom: 1px solid var(--hair); vertical-align: bottom; }
th:first-child, td:first-child, td.words, th.words { text-align: left; }
td.words { white-space: normal; min-width: 46ch; }
.wide { overflow-x: auto; }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--accent); }
"""
