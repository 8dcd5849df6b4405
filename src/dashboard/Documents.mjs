/** Renders the documents of docs/ as pages without scripts, which the service serves below the dashboard. Those for contributors are not part of it. */
import { copyFile, mkdir, readdir, readFile, writeFile } from "node:fs/promises"
import { dirname, join, posix } from "node:path"
import { fileURLToPath } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "../..")

/** The folder of the documents, also that whose changes make the pages stale. */
export const documents = join(root, "docs")

const pictures = "pictures"

/** The anchor of a heading, as git hosts derive it. */
const slug = (title) =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-")

const escape = (text) =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** Returns the file of a document's page: `hosts/gitea.md` is `hosts/gitea.html`. */
const pageOf = (path) => path.replace(/\.md$/, ".html")

/** Returns the address of a link from a document, or undefined for a file of the repository that has no page. */
const addressOf = (href, from, pages) => {
  if (/^https?:\/\//.test(href) || href.startsWith("#")) return href
  const [path = "", anchor] = href.split("#")
  const target = posix.normalize(posix.join(posix.dirname(from), path))
  if (!pages.includes(target)) return undefined
  const address = posix.relative(posix.dirname(from), pageOf(target))
  return anchor === undefined ? address : `${address}#${anchor}`
}

const renderer = (from, pages) => ({
  heading({ depth, text, tokens }) {
    return `<h${depth} id="${escape(slug(text))}">${this.parser.parseInline(tokens)}</h${depth}>\n`
  },
  link({ href, tokens }) {
    const address = addressOf(href, from, pages)
    const text = this.parser.parseInline(tokens)
    return address === undefined ? text : `<a href="${escape(address)}">${text}</a>`
  },
  // The documents have no HTML of their own but comments.
  html: ({ text }) => (text.startsWith("<!--") ? "" : escape(text))
})

const page = (path, title, body) => {
  const top = "../".repeat(path.split("/").length - 1)
  const [language, index] = path.endsWith(".zh.md") ? ["zh-CN", "README.zh.html"] : ["en", "README.html"]
  return `<!doctype html>
<html lang="${language}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escape(title)} · aicr</title>
<link rel="stylesheet" href="${top}style.css">
<nav><a href="${top}${index}">aicr</a></nav>
<main>
${body}</main>
</html>
`
}

/** Writes a page for each document, their pictures and their style into the folder. */
export const renderDocuments = async (folder) => {
  const { Marked } = await import("marked")
  const names = (await readdir(documents, { recursive: true })).map((name) => name.replaceAll("\\", "/"))
  const pages = names.filter((name) => name.endsWith(".md") && !name.startsWith("development/"))
  for (const path of pages) {
    const text = await readFile(join(documents, path), "utf8")
    const body = new Marked({ renderer: renderer(path, pages) }).parse(text)
    const title = /^# (.+)$/m.exec(text)?.[1] ?? path
    await mkdir(join(folder, dirname(path)), { recursive: true })
    await writeFile(join(folder, pageOf(path)), page(path, title, body))
  }
  await mkdir(join(folder, pictures), { recursive: true })
  for (const path of names.filter((name) => name.startsWith(`${pictures}/`)))
    await copyFile(join(documents, path), join(folder, path))
  await writeFile(join(folder, "style.css"), await readFile(join(root, "src/dashboard/style/Documents.css")))
}
