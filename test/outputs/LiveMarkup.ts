/** Markup of a text that a git host acts on, found by two parsers that are not the one that makes text safe. */
import { Parser } from "commonmark"
import type { Root, RootContent } from "mdast"
import { fromMarkdown } from "mdast-util-from-markdown"
import { gfmFromMarkdown } from "mdast-util-gfm"
import { gfm } from "micromark-extension-gfm"

const ownLink = /^http:\/\/forge\.test\//
/** The HTML of our templates. */
const ownHtml =
  /^<details>\n<summary>(?:(?:Coverage|Less important): [^<]*|Why this was reported|For coding agents|What changes \(as of <code>[\w.-]+<\/code>\))<\/summary>$|^<\/details>$|^<\/?sub>$|^<!-- aicr-(author|since) -->$|^<!-- aicr:v1 \{"op":"own","fp":"f","scope":"s"\} -->$/
const ownHeadings = ["Code review", "Problems", "Notes"]
/** The HTML of what `aicr review --format markdown` prints. */
const reportHtml = /^<details><summary>\d+ files? not read(, or not in full)?<\/summary>$|^<\/details>$/

const ownUrls = /\bhttp:\/\/forge\.test\/team\/shop\/\S*/g

/** Patterns that hosts act on in running text. */
const live: ReadonlyArray<RegExp> = [
  /@[\w-]/,
  /(?:^|\W)#\d/,
  /(?:^|[\s(])[\w./-]+[#!]\d/,
  /(?:^|\W)![\d]/,
  /(?:^|\W)[$&]\d/,
  /(?:^|\W)[~%][\w"{]/,
  /\b(?:GH|GL)-\d/i,
  /\b[A-Z][A-Z0-9]+-\d/,
  /\[\[|\[TOC\]|\[[a-z]+:\d/,
  /(?<!\w)[0-9a-f]{7,64}(?!\w)/i,
  /[a-z]+:\/\/|www\./i,
  /javascript:|data:/i,
  /[\u202a-\u202e\u2066-\u2069]/
]
/** GitLab's reader of quick actions before it read markdown: code is excluded by its own expressions. */
const gitlabCommands = /^```.+?\n```$|`\/.+?`|(?<command>^\/[a-z]+)/gims

const faultsOfText = (text: string): ReadonlyArray<string> =>
  live.filter((one) => one.test(text)).map((one) => `${one.source} in ${JSON.stringify(text)}`)

/** The source of the surrounding text: a comment's own template, a template of the operator, or the report of a local review. */
export type Place = "comment" | "anywhere" | "report"

const isOurs = (html: string, place: Place): boolean => (place === "report" ? reportHtml : ownHtml).test(html)

const faultsOfNode = (node: RootContent, place: Place): ReadonlyArray<string> => {
  switch (node.type) {
    case "html":
      return isOurs(node.value, place) ||
        (place === "anywhere" && !/<(?!\/?(details|summary)>|!-- aicr)[a-z/!?]/i.test(node.value))
        ? place === "anywhere"
          ? faultsOfText(node.value.replaceAll("&#95;", "_").replace(/<!--[^>]*-->|&#\d+;/g, ""))
          : []
        : [`html ${node.value}`]
    case "link":
      return ownLink.test(node.url)
        ? node.children.flatMap((child) => faultsOfNode(child, place))
        : [`link ${node.url}`]
    case "heading": {
      const [first] = node.children
      const isOwn = first?.type === "text" && ownHeadings.includes(first.value)
      if (isOwn || (node.depth === 3 && place === "anywhere")) return []
      return node.depth === 3 && place === "report"
        ? node.children.flatMap((child) => faultsOfNode(child, place))
        : [`heading ${JSON.stringify(first)}`]
    }
    case "code":
      return /^(suggestion(:-\d+\+0)?|text|ts|diff|)$/.test(node.lang ?? "") ? [] : [`language ${node.lang}`]
    case "text":
      return faultsOfText(node.value.replace(ownUrls, ""))
    case "inlineCode":
      return []
    case "paragraph":
    case "emphasis":
    case "strong":
    case "list":
    case "listItem":
    case "blockquote":
    case "table":
    case "tableRow":
    case "tableCell":
      return (node.children as ReadonlyArray<RootContent>).flatMap((child) => faultsOfNode(child, place))
    case "break":
      return []
    default:
      return [node.type]
  }
}

let parsed: { readonly body: string; readonly root: Root } | undefined

/** Parses a body. Keeps the last tree, because each body is checked in several ways. */
export const tree = (body: string): Root => {
  if (parsed?.body !== body)
    parsed = { body, root: fromMarkdown(body, { extensions: [gfm()], mdastExtensions: [gfmFromMarkdown()] }) }
  return parsed.root
}

/** Returns the markup that the GFM parser finds. */
const gfmFaults = (body: string, place: Place): ReadonlyArray<string> =>
  tree(body).children.flatMap((node) => faultsOfNode(node, place))

/** Returns the markup that the reference parser finds. */
export const commonmarkFaults = (body: string, place: Place): ReadonlyArray<string> => {
  const found: Array<string> = []
  const walker = new Parser().parse(body).walker()
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { node, entering } = step
    if (!entering) continue
    const html = node.type === "html_block" || node.type === "html_inline" ? (node.literal ?? "").trim() : ""
    if (html !== "" && !isOurs(html, place) && place !== "anywhere") found.push(`html ${html}`)
    if (node.type === "image") found.push("image")
    if (node.type === "link" && !ownLink.test(node.destination ?? "")) found.push(`link ${node.destination}`)
    // Without tables its text nodes end at brackets; mentions are whole in them all the same.
    if (node.type === "text" && /@[\w-]|[a-z]+:\/\//i.test((node.literal ?? "").replace(ownUrls, "")))
      found.push(`text ${node.literal}`)
  }
  return found
}

const commandFaults = (body: string): ReadonlyArray<string> =>
  [...body.matchAll(gitlabCommands)].flatMap(({ groups }) =>
    groups?.["command"] === undefined ? [] : [`command ${groups["command"]}`]
  )

export const faults = (body: string, place: Place = "comment"): ReadonlyArray<string> => [
  ...gfmFaults(body, place),
  ...commonmarkFaults(body, place),
  ...commandFaults(body)
]
