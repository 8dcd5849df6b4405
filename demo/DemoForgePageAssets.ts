/** Style and script of the demo forge's pages. No assets from elsewhere: the page works without a network. */
export const styles = `
:root{--bg:#f6f7f9;--card:#fff;--ink:#1c2128;--soft:#4d5866;--line:#dde2e8;--accent:#1f5bbf;--good:#17703a;--bad:#b3282f;--add:#e5f6ea;--addn:#cdeed6;--del:#fdebec;--deln:#fad5d8;--hunk:#eef3fb;--mark:#f2b84b;--code:#eef0f3}
@media (prefers-color-scheme:dark){:root{--bg:#0f1318;--card:#171c23;--ink:#e4e8ee;--soft:#9fabb9;--line:#2a323c;--accent:#76a9ff;--good:#58c983;--bad:#ff8a8f;--add:#12291b;--addn:#1a3d27;--del:#301719;--deln:#482125;--hunk:#1a2433;--mark:#b98a2e;--code:#222933}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif}
a{color:var(--accent);text-decoration:none}a:hover,.markdown a{text-decoration:underline}
.top{display:flex;gap:14px;align-items:baseline;padding:12px 24px;background:var(--card);border-bottom:1px solid var(--line)}
.brand{font-weight:650;color:var(--ink)}.dot{display:inline-block;width:10px;height:10px;border-radius:50%;background:var(--accent);margin-right:8px}
main{max-width:1080px;margin:0 auto;padding:20px 24px 80px}
h1{font-size:26px;line-height:1.3;margin:6px 0 8px;font-weight:600}h2{font-size:18px;margin:28px 0 10px}
.muted,time{color:var(--soft);font-weight:400}.crumb{margin:0;color:var(--soft)}.facts{margin:0 0 18px}
.badge{display:inline-block;padding:2px 11px;border-radius:20px;color:#fff;font-size:13px;font-weight:600;margin-right:8px}
.badge.open{background:#17703a}.badge.closed{background:#b3282f}.badge.merged{background:#6f42c8}.badge.draft,.badge.resolved{background:#5a6472}
.label,.bubble{display:inline-block;padding:0 9px;border-radius:20px;font-size:12px;background:var(--hunk);color:var(--accent);margin-left:6px;line-height:1.8}
.card,.note{background:var(--card);border:1px solid var(--line);border-radius:8px;margin:0 0 14px;overflow:hidden}
.note-head{display:flex;flex-wrap:wrap;gap:4px 8px;align-items:center;padding:8px 14px;border-bottom:1px solid var(--line);background:color-mix(in srgb,var(--card) 60%,var(--bg))}
.avatar{flex:none;width:24px;height:24px;border-radius:50%;background:var(--accent);color:var(--card);display:grid;place-items:center;font-size:12px;font-weight:700}
.markdown{padding:10px 16px;overflow-wrap:anywhere}.markdown>:first-child{margin-top:4px}.markdown>:last-child{margin-bottom:4px}
.markdown h2,.markdown h3,.markdown h4,.markdown h5{margin:14px 0 6px;font-size:16px}.markdown h2{font-size:18px}
.markdown table{border-collapse:collapse;margin:8px 0;font-size:14px}.markdown td,.markdown th{border:1px solid var(--line);padding:4px 10px;text-align:left}
.markdown ul{padding-left:22px;margin:6px 0}.markdown blockquote{margin:6px 0;padding:0 12px;border-left:3px solid var(--line);color:var(--soft)}
code{font:13px/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;background:var(--code);padding:1px 5px;border-radius:4px}
pre{background:var(--code);padding:10px 12px;border-radius:6px;white-space:pre-wrap;overflow-wrap:anywhere;margin:8px 0}pre code{padding:0;background:none}
.suggestion{border:1px solid var(--line);border-radius:6px;margin:8px 0;overflow:hidden}.suggestion-title{padding:4px 12px;font-size:13px;color:var(--soft);border-bottom:1px solid var(--line)}.suggestion pre{margin:0;border-radius:0;background:var(--add)}
.severity{display:inline-block;width:11px;height:11px;border-radius:50%;margin:0 4px 0 1px;vertical-align:-1px}
.severity.critical{background:#b3202a;border-radius:3px}.severity.high{background:#e0483e}.severity.medium{background:#ee8b2d}.severity.low{background:#e3bb2b}.severity.info{background:#3f82e0}
.event{display:flex;flex-wrap:wrap;gap:2px 8px;align-items:center;margin:0 0 14px;padding:0 15px;color:var(--soft)}.event p{margin:0}
details summary{cursor:pointer;color:var(--soft)}
.checks{padding:10px 16px}.checks ul,.list ul{list-style:none;margin:0;padding:0}.checks li{display:flex;gap:10px;align-items:baseline}.checks p{margin:0}
.icon{font-weight:700}.success .icon{color:var(--good)}.failure .icon,.error .icon{color:var(--bad)}.pending .icon{color:#c98a1b;animation:pulse 1.4s infinite}
@keyframes pulse{50%{opacity:.3}}
.card h3{margin:0;padding:9px 14px;font-size:14px;border-bottom:1px solid var(--line);display:flex;gap:10px;align-items:center}
.path{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-weight:600}.plus{color:var(--good);margin-left:auto}.minus{color:var(--bad)}
.scroll{overflow-x:auto}.diff{border-collapse:collapse;width:100%;font:12.5px/1.6 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
.diff td{padding:0}.num{width:1%;min-width:44px;padding:0 10px!important;text-align:right;color:var(--soft);user-select:none;vertical-align:top}
.code{white-space:pre-wrap;overflow-wrap:anywhere;padding:0 12px!important}.sign{display:inline-block;width:14px;color:var(--soft);user-select:none}
.added .code{background:var(--add)}.added .num{background:var(--addn)}.removed .code{background:var(--del)}.removed .num{background:var(--deln)}
tr:target .code{box-shadow:inset 0 0 0 2px var(--mark)}.hunk td{background:var(--hunk);color:var(--soft)}.marked .num:first-child{box-shadow:inset 3px 0 0 var(--mark)}
.thread td{max-width:0;padding:10px 16px 2px 60px!important;background:var(--bg);font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.note-head form{margin-left:auto}.box{display:grid;gap:8px;padding:14px}.box textarea{font:inherit;padding:8px;width:100%;color:var(--ink);background:var(--bg);border:1px solid var(--soft);border-radius:6px}.box button{justify-self:end}
button{font:inherit;font-size:14px;padding:3px 12px;color:var(--ink);background:var(--bg);border:1px solid var(--soft);border-radius:6px;cursor:pointer}button:hover{border-color:var(--accent)}
.reactions{margin:0 10px 10px}
.thread .note{margin-bottom:8px}.reply{margin:0 0 10px}.reply .box{margin:8px 0 0}.late{padding:12px 14px 0}
.list li{display:flex;gap:10px;align-items:center;padding:9px 14px;border-top:1px solid var(--line)}.list li:first-child{border-top:0}
@media (max-width:640px){main,.top{padding-left:12px;padding-right:12px}.thread td{padding-left:10px!important}.top .muted{display:none}}
`

/** Polls once a second for changes and replaces the page, keeping unfolded sections, by the comment that has them, and the scroll position. */
export const script = `
const main = document.querySelector("main")
const sections = () => {
  const found = new Map()
  for (const section of main.querySelectorAll("details")) {
    // The form below a thread follows its comments.
    const own = section.closest("[id]") ?? section.closest(".thread, .late")?.querySelector("[id]")
    const before = [...found.keys()].filter((key) => key.startsWith(own?.id + " ")).length
    found.set(own?.id + " " + before, section)
  }
  return found
}
const look = async () => {
  try {
    const { version } = await (await fetch("/version")).json()
    // Text that is being written stays.
    const isWriting = [...main.querySelectorAll("textarea")].some((text) => text.value)
    if (String(version) !== main.dataset.version && !isWriting) {
      const page = new DOMParser().parseFromString(await (await fetch(location.pathname)).text(), "text/html")
      const fresh = page.querySelector("main")
      const before = sections()
      main.innerHTML = fresh.innerHTML
      main.dataset.version = fresh.dataset.version
      for (const [key, section] of sections()) section.open = before.get(key)?.open ?? section.open
    }
  } catch {}
  setTimeout(look, document.hidden ? 5000 : 1000)
}
setTimeout(look, 1000)
`
