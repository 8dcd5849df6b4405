/**
 * Makes external text (from models, changes, hosts) inert. An invisible character breaks every pattern that a host reacts to in
 * running text: mentions, references to issues, commits and merge requests, labels, commands at the start of a line, schemes of
 * links. The text stays readable. The rules cover GitHub, GitLab, Gitea and Forgejo together. Pure.
 */

/** Invisible, and not allowed in names: a mention or reference that contains it has no effect. */
export const zeroWidth = "\u200b"

/**
 * Replaces control characters, marks that reverse the reading direction, and lone surrogates by U+FFFD, and the separators of lines
 * U+2028 and U+2029 by spaces: some parsers end a line there, where a quotation or a list has no prefix.
 */
export const withoutControls = (text: string): string =>
  text
    .toWellFormed()
    .replace(/[\u2028\u2029]/g, " ")
    .replace(/[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (char) =>
      /\s|\u0085/.test(char) ? char : "\ufffd"
    )
    .replace(/[\u{e0000}-\u{e007f}]/gu, "")

/** Collapses white space to single spaces. */
export const oneLine = (text: string): string => text.replace(/[\s\u0085]+/g, " ")

/** Removes markers and slots of the service from external text, including code. */
export const withoutMarkers = (text: string): string => text.replace(/<!--(?=\s*aicr)/gi, `<!-${zeroWidth}-`)

const rules: ReadonlyArray<readonly [pattern: RegExp, replacement: string]> = [
  // People and groups; an e-mail address would become a link.
  [/@(?!\s)/g, `@${zeroWidth}`],
  // #1, team/shop#1, ^alert#1.
  [/#(?=\w|$)/g, `#${zeroWidth}`],
  // GitLab: !1 (merge request), $1 (snippet), &1 (epic), ~label, %milestone, %{placeholder}.
  [/([!&])(?=\d|$)/g, `$1${zeroWidth}`],
  [/\$(?=\d|$)/g, `$$${zeroWidth}`],
  [/([~%])(?=[\w"{]|$)/g, `$1${zeroWidth}`],
  // GitLab: [epic:1], [[wiki]], [TOC], [[_TOC_]], *iteration:1; GitHub: [!NOTE].
  [/\[(?=[[!]|toc\]|_toc_|[a-z_]{2,30}:)/gi, `[${zeroWidth}`],
  [/\*(?=iteration:)/gi, `*${zeroWidth}`],
  [/::(?=include)/gi, `:${zeroWidth}:`],
  // GH-1, GL-1 and keys of trackers such as SHOP-12.
  [/(?<![a-z0-9])(gh|gl)-(?=\d)/gi, `$1-${zeroWidth}`],
  [/(?<![A-Za-z0-9])([A-Z][A-Z0-9_]{1,20})-(?=\d)/g, `$1-${zeroWidth}`],
  // Quick actions, and commands of bots.
  [/(^|\s)\/(?=[a-z])/gi, `$1/${zeroWidth}`],
  [/(?<![a-z0-9])(javascript|vbscript|data|file|mailto|xmpp)(?=:)/gi, `$1${zeroWidth}`]
]

/** Breaks all patterns that a host would act on. */
export const inertText = (text: string): string =>
  rules.reduce((made, [pattern, by]) => made.replace(pattern, by), text)

/** Returns one line without markup, for titles and names. */
export const plainLine = (text: string): string => inertText(oneLine(withoutMarkers(withoutControls(text))).trim())

/** Part of a text; parts that hosts would turn into links are shown as code instead. */
interface TextPart {
  readonly kind: "text" | "code"
  readonly value: string
}

/** Matches URLs and commit ids: in running text hosts link them and add a reference to the target. */
const linked = /[a-z][a-z0-9+.-]{0,20}:\/\/[^\s<>`]+|(?<![a-z0-9.-])www\.[^\s<>`]+|(?<!\w)[0-9a-f]{7,64}(?!\w)/gi

/** Splits a text into parts that remain text and parts that are shown as code. */
export const textParts = (text: string): ReadonlyArray<TextPart> => {
  const parts: Array<TextPart> = []
  let from = 0
  for (const match of text.matchAll(linked)) {
    const value = match[0].replace(/(?<![).,;:!?\]}'"*_|])[).,;:!?\]}'"*_|]+$/, "")
    if (value === "") continue
    if (match.index > from) parts.push({ kind: "text", value: text.slice(from, match.index) })
    parts.push({ kind: "code", value })
    from = match.index + value.length
  }
  if (from < text.length) parts.push({ kind: "text", value: text.slice(from) })
  return parts
}

/** Returns text without anything that a host turns into a link, and without markup. */
export const unlinked = (text: string): string =>
  textParts(text)
    .map(({ kind, value }) =>
      kind === "text" ? value : withoutAddresses(value).replace(/[0-9a-f]{6}(?=[0-9a-f])/gi, `$&${zeroWidth}`)
    )
    .join("")

/** Returns text whose addresses are not linked. */
export const withoutAddresses = (text: string): string =>
  text.replace(/:\/\//g, `:${zeroWidth}//`).replace(/www\./gi, `www${zeroWidth}.`)

/** Returns whether a host would act on the text, as text or as HTML. */
export const isActive = (text: string): boolean => /<(?=[a-z/!?])/i.test(text) || inertText(unlinked(text)) !== text
