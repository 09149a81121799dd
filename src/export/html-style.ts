// The look of an exported page. One sheet, in the page, for light and dark.

export const style = `
:root{color-scheme:light dark;--page:#fbfaf8;--card:#fff;--ink:#1f2328;--soft:#646b75;--line:#e4e1dc;--code:#f4f2ee;--accent:#2f5fd0;
--you:#eaf0fc;--youline:#c5d5f7;--added:#e2f5e5;--addedink:#14602c;--removed:#fde9e7;--removedink:#9a2318;--bad:#b3261e;--badpage:#fdf0ef;--warn:#8a5a00;--warnpage:#fdf5e2}
@media (prefers-color-scheme:dark){:root{--page:#15171a;--card:#1b1e22;--ink:#e4e6ea;--soft:#98a0ab;--line:#30353c;--code:#23272d;--accent:#8ab0ff;
--you:#1f2a40;--youline:#34476e;--added:#17331f;--addedink:#8fdba3;--removed:#3b1d1c;--removedink:#f5a59d;--bad:#ff9c92;--badpage:#351f1e;--warn:#f0c36d;--warnpage:#332a15}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding-top:1rem}
body{margin:0;background:var(--page);color:var(--ink);font:16px/1.6 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
code,pre,.what{font-family:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace;font-size:.86em}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:.15em}
.page{max-width:78rem;margin:0 auto;padding:2.5rem 1.25rem 5rem;display:grid;gap:2.5rem;grid-template-columns:minmax(0,1fr)}
header h1{font-size:1.75rem;line-height:1.25;margin:0 0 1rem;letter-spacing:-.01em}
.facts{display:flex;flex-wrap:wrap;gap:.35rem 1.75rem;margin:0;color:var(--soft);font-size:.86rem}
.facts div{display:flex;gap:.45rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0;color:var(--ink)}
.problems{margin:1.25rem 0 0;padding:.8rem 1rem;border:1px solid var(--warn);border-radius:.6rem;background:var(--warnpage);color:var(--warn);font-size:.92rem}
.problems p{margin:0}
.problems ul{margin:.35rem 0 0;padding-left:1.2rem}
nav h2{font-size:.75rem;letter-spacing:.08em;text-transform:uppercase;color:var(--soft);margin:0 0 .5rem;font-weight:600}
nav ol{list-style:none;margin:0;padding:0;font-size:.86rem}
nav a{display:grid;grid-template-columns:1.9rem 1fr;padding:.4rem .55rem;border-radius:.45rem;color:inherit;text-decoration:none;line-height:1.4}
nav a:hover{background:var(--code)}
nav .number{color:var(--soft);font-variant-numeric:tabular-nums}
nav small{display:block;color:var(--soft);font-size:.92em}
nav .prompt-line{display:-webkit-box;-webkit-line-clamp:2;-webkit-box-orient:vertical;overflow:hidden}
nav .failed small{color:var(--bad)}
@media (min-width:66rem){.page{grid-template-columns:16rem minmax(0,48rem);grid-template-areas:"head head" "nav main";gap:2rem 3.5rem;justify-content:center}
header{grid-area:head}main{grid-area:main}nav{grid-area:nav;position:sticky;top:1.25rem;align-self:start;max-height:calc(100vh - 2.5rem);overflow-y:auto}}
.turn{padding-bottom:2.25rem;margin-bottom:2.25rem;border-bottom:1px solid var(--line)}
.turn:last-child{border:0;margin:0}
.you{position:relative;background:var(--you);border:1px solid var(--youline);border-radius:.8rem;padding:.85rem 1.1rem;margin:0 0 1.4rem}
.you h2{margin:0 0 .3rem;font-size:.78rem;font-weight:600;color:var(--soft);display:flex;justify-content:space-between;gap:1rem}
.you h2 a{color:inherit;text-decoration:none}
.you h2 time{font-weight:400}
.said{white-space:pre-wrap}
.answer{margin:1rem 0}
.answer>*:first-child{margin-top:0}
.answer>*:last-child{margin-bottom:0}
.answer p,.answer ul,.answer ol,.answer blockquote,.answer table,.answer pre{margin:.75rem 0}
.answer li{margin:.2rem 0}
.answer h4,.answer h5,.answer h6{margin:1.5rem 0 .5rem;line-height:1.3;font-size:1.12rem}
.answer h5{font-size:1rem}.answer h6{font-size:.92rem;color:var(--soft)}
.answer blockquote{border-left:3px solid var(--line);margin-left:0;padding-left:1rem;color:var(--soft)}
.answer code{background:var(--code);padding:.12em .35em;border-radius:.3em}
.answer hr{border:0;border-top:1px solid var(--line);margin:1.5rem 0}
.wide{overflow-x:auto}
.answer table{border-collapse:collapse;font-size:.92em}
.answer th,.answer td{border:1px solid var(--line);padding:.35rem .65rem;text-align:left;vertical-align:top}
.answer th{background:var(--code)}
.answer .right{text-align:right}.answer .center{text-align:center}
pre{margin:0;background:var(--code);border-radius:.55rem;padding:.75rem .95rem;overflow:auto;line-height:1.5;tab-size:4;max-height:34rem}
pre code{background:none!important;padding:0!important;font-size:1em}
details{border:1px solid var(--line);border-radius:.6rem;background:var(--card);margin:.5rem 0;font-size:.92rem}
summary{cursor:pointer;padding:.4rem .8rem;display:flex;align-items:baseline;gap:.6rem;list-style:none;border-radius:.6rem;min-width:0}
summary::-webkit-details-marker{display:none}
summary::before{content:"";flex:none;width:.42em;height:.42em;border-right:1.5px solid var(--soft);border-bottom:1.5px solid var(--soft);transform:rotate(-45deg) translateY(-.15em)}
details[open]>summary::before{transform:rotate(45deg) translateY(-.15em)}
summary:focus-visible,a:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
summary .tool{font-weight:600;flex:none}
summary .what{color:var(--soft);white-space:nowrap;overflow:hidden;text-overflow:ellipsis;min-width:0}
summary .meta{margin-left:auto;flex:none;color:var(--soft);font-size:.9em;white-space:nowrap}
details[open]>summary{border-bottom:1px solid var(--line);border-radius:.6rem .6rem 0 0}
details[open]>summary .what{white-space:normal;overflow:visible}
.failed>summary .tool,.refused>summary .tool,.bad{color:var(--bad)}
.body{padding:.7rem .8rem;display:grid;gap:.6rem;grid-template-columns:minmax(0,1fr)}
.body h3{margin:0 0 .25rem;font-size:.75rem;font-weight:600;color:var(--soft)}
.thinking{color:var(--soft);background:none;border-style:dashed}
.thinking .what{font:inherit;font-style:italic}
.thinking .body{white-space:pre-wrap;display:block}
.diff code{display:block;width:max-content;min-width:100%}
.diff span{display:block;margin:0 -.95rem;padding:0 .95rem}
.diff .added{background:var(--added);color:var(--addedink)}
.diff .removed{background:var(--removed);color:var(--removedink)}
.diff .hunk{color:var(--soft)}
.why{margin:0;padding:.5rem .75rem;border-radius:.5rem;background:var(--badpage);color:var(--bad);white-space:pre-wrap}
.notice{color:var(--soft);font-size:.88rem;border-left:3px solid var(--line);padding-left:.8rem;margin:.7rem 0}
.about{color:var(--soft);font-size:.82rem;margin:1.1rem 0 0}
img{max-width:100%;max-height:30rem;border-radius:.5rem;border:1px solid var(--line);display:block}
.pictures{display:grid;gap:.6rem;margin-top:.7rem}
footer{grid-column:1/-1;color:var(--soft);font-size:.82rem;text-align:center}
@media print{body{background:#fff}.page{display:block;padding:0}nav{display:none}pre{max-height:none;white-space:pre-wrap}details{break-inside:avoid}}
`;
