/**
 * Serves the page for developers, without login: one file without scripts and without anything from other servers. It contains nothing
 * about the installation.
 */
import { escapeHtml } from "../domain/EscapeHtml.ts"
import type { DeveloperGuide } from "../text/DeveloperGuide.ts"
import { developerGuide as english } from "../text/en/DeveloperGuide.ts"
import { developerGuide as chinese } from "../text/zh/DeveloperGuide.ts"
import type { IngressResponse } from "./Responses.ts"
import { text } from "./Responses.ts"

export type DevelopersLanguage = "en" | "zh"

const guides = { en: english, zh: chinese } as const satisfies Record<DevelopersLanguage, DeveloperGuide>
const names = { en: "English", zh: "中文" } as const satisfies Record<DevelopersLanguage, string>

const headers = {
  "cache-control": "no-cache",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const style = `
  body { font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans SC", sans-serif; margin: 0; background: #fff; color: #1c2128 }
  main { max-width: 46rem; margin: 2rem auto; padding: 0 1.25rem 3rem } h1, h2 { font-weight: 600; line-height: 1.25 } h2 { margin-top: 2.25rem }
  a { color: #1f5fc9 } li { margin: .35rem 0 } code { background: #eef0f3; padding: .1em .3em; border-radius: 4px; font-size: .9em }
  table { border-collapse: collapse; width: 100% } td, th { text-align: left; vertical-align: top; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid #dde2e8 }
  @media (prefers-color-scheme: dark) {
    body { background: #0f1318; color: #e4e8ee } a { color: #76a9ff } code { background: #222933 } td, th { border-color: #2a323c }
  }`

const prose = (value: string): string => escapeHtml(value).replace(/`([^`]*)`/g, "<code>$1</code>")

const renderSection = ({
  id,
  list = [],
  paragraphs = [],
  table,
  title
}: DeveloperGuide["sections"][number]): string => {
  const rows = table?.rows.map(([left, right]) => `<tr><td>${prose(left)}</td><td>${prose(right)}</td></tr>`) ?? []
  const head = table?.head.map((name) => `<th scope="col">${prose(name)}</th>`).join("") ?? ""
  return [
    `<section id="${id}"><h2>${prose(title)}</h2>`,
    ...paragraphs.map((paragraph) => `<p>${prose(paragraph)}</p>`),
    ...(list.length === 0 ? [] : [`<ul>${list.map((item) => `<li>${prose(item)}</li>`).join("")}</ul>`]),
    ...(table === undefined ? [] : [`<table><thead><tr>${head}</tr></thead><tbody>${rows.join("")}</tbody></table>`]),
    "</section>"
  ].join("\n")
}

const renderPage = (guide: DeveloperGuide, link: string): string => `<!doctype html>
<html lang="${guide.language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(guide.title)}</title>
<style>${style}</style>
<main>
<h1>${prose(guide.title)}</h1>
<p>${prose(guide.intro)}</p>
${link}
${guide.sections.map(renderSection).join("\n")}
</main>
</html>
`

/** `prefix` is the normalised `server.path_prefix`. */
export const developersPage = (language: DevelopersLanguage, prefix: string): IngressResponse => {
  const other = language === "en" ? "zh" : "en"
  const path = `${escapeHtml(prefix)}/developers${other === "en" ? "" : `/${other}`}`
  const link = `<p><a href="${path}" lang="${guides[other].language}">${names[other]}</a></p>`
  return text(200, "text/html; charset=utf-8", renderPage(guides[language], link), headers)
}
