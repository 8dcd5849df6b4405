/**
 * How text is written so that it stays text, and how code, emphasis and links are written, in the markup of each target: GitHub-flavoured
 * Markdown (all git hosts), the markdown of Feishu's cards, and that of WeCom's bots. Rows of a table; pure.
 */
import { inertText, oneLine, unlinked, withoutControls, withoutMarkers, zeroWidth } from "./InertText.ts"

export interface TextGrammar {
  /** Running text of one line. `atStart`: nothing but white space is before it on its line. */
  readonly text: (text: string, atStart: boolean) => string
  /** Code within a line, which it cannot end. */
  readonly codeSpan: (code: string) => string
  /** Code in lines of its own, which it cannot end. */
  readonly codeBlock: (language: string, code: string) => string
  /** A bar in code, which ends the cell of a table. */
  readonly codeBar: string
  readonly strong: string
  readonly emphasis: string
  /** `text` is written in this grammar already; `url` has no white space, brackets or quotes. */
  readonly link: (text: string, url: string) => string
  readonly quote: string
}

/** A type parameter such as `<T>` is no tag. */
const tag = /<(?=[a-zA-Z/!?])(?![CDEFGHJKLMNORTVWXYZ][>,])/g
/** Where a template puts code into HTML, its ticks mean nothing. */
export const withoutTags = (code: string): string => code.replace(tag, `<${zeroWidth}`)

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  "\\": "&#92;",
  "`": "&#96;",
  "*": "&#42;",
  _: "&#95;",
  "[": "&#91;",
  "]": "&#93;",
  "|": "&#124;",
  "~": "&#126;",
  $: "&#36;",
  "#": "&#35;",
  "-": "&#45;",
  "+": "&#43;",
  "=": "&#61;",
  ":": "&#58;",
  ".": "&#46;",
  ")": "&#41;"
}
const entity = (char: string): string => entities[char] ?? char

/** What begins a heading, a list, a rule or an underline. */
const lineStart = (text: string): string =>
  text
    .replace(/^[-+=:#>]/, entity)
    .replace(/^(\d{1,9})([.)])/, (_, number: string, mark: string) => `${number}${entity(mark)}`)

/** References to characters mean the character in text, table cells and HTML alike, and never markup. */
const entityText = (text: string, atStart: boolean): string => {
  const started = inertText(text)
  const encoded = started
    .replace(/[<\\`*[\]|~$]|&(?=[#\w]|$)|(?<![^\W_])_|_(?![^\W_])/g, entity)
    .replace(/(--!?)>/g, `$1${entity(">")}`)
  return atStart ? lineStart(encoded) : encoded
}

const flat = (code: string): string => oneLine(withoutMarkers(withoutControls(code)))

const longestRun = (code: string): number => Math.max(0, ...[...code.matchAll(/`+/g)].map(([run]) => run.length))

/** One or two ticks: three at the start of a line would look like a fence to GitLab's reader of quick actions. */
const tickedSpan = (code: string): string => {
  const longest = longestRun(code)
  const inner =
    (longest > 1 && /(?<!`)`(?!`)/.test(code)) || longest > 2 ? code.replace(/`(?=`)/g, `\`${zeroWidth}`) : code
  const ticks = longestRun(inner) === 1 ? "``" : "`"
  const pad = inner.startsWith("`") || inner.endsWith("`") || /^ .* $/.test(inner) ? " " : ""
  return `${ticks}${pad}${inner}${pad}${ticks}`
}

/** GitLab's old reader of quick actions knows no other fences than those of three ticks. */
export const withoutCommands = (code: string): string => code.replace(/^\/(?=[a-z])/gim, `/${zeroWidth}`)

/** Languages that hosts colour. Others (suggestion, mermaid, json:table, …) make a host do something with the code. */
const languages = new Set(
  `asm bash bat c clojure cmake cmd cpp cs csharp csv css dart diff docker dockerfile elixir elm erlang fish fortran fsharp go gradle
  graphql groovy h haskell hcl hpp html ini java javascript js json json5 jsonc jsx julia kotlin kt latex less lisp lua make makefile
  markdown md nginx nix objc objectivec ocaml patch perl php plaintext powershell properties proto protobuf ps1 py python r rb ruby rs
  rust sass scala scheme scss sh shell solidity sql svelte swift tcl terraform text tf toml ts tsx txt typescript vb verilog vhdl vim
  vue wasm xml yaml yml zig zsh`.split(/\s+/)
)

/** Always with a language: a line of three ticks alone may end what that reader takes for code since an earlier fence. */
const fenced = (language: string, code: string): string => {
  const lines = withoutMarkers(withoutControls(code)).replaceAll("\r\n", "\n").replace(/\n$/, "")
  const ticks = "`".repeat(Math.max(2, longestRun(lines)) + 1)
  const inner = ticks.length === 3 ? lines : withoutCommands(lines)
  const name = language.toLowerCase()
  return `${ticks}${languages.has(name) ? name : "text"}\n${inner}\n${ticks}`
}

/**
 * Code with a word that makes the host do something with it, as `suggestion`. Undefined where the code cannot be written down to the letter:
 * then it must not be offered for a commit.
 */
export const verbatimFence = (word: string, code: string): string | undefined => {
  const body = code.replace(/\n$/, "")
  const ticks = "`".repeat(Math.max(2, longestRun(body)) + 1)
  const isKept = withoutMarkers(withoutControls(body)) === body && (ticks.length === 3 || !/^\/[a-z]/im.test(body))
  return isKept ? `\n\n${ticks}${word}\n${body}\n${ticks}\n` : undefined
}

/** Ticks cannot be quoted in the markup of chat platforms, and tags and links may be read in code there. */
const chatCode = (code: string): string =>
  code
    .replaceAll("`", "\u02cb")
    .replace(/<(?=\S)/g, `<${zeroWidth}`)
    .replace(/\](?=\()/g, `]${zeroWidth}`)

export const grammars = {
  gfm: {
    text: entityText,
    codeSpan: (code) => tickedSpan(flat(code)),
    codeBlock: fenced,
    codeBar: "\\|",
    strong: "**",
    emphasis: "*",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  /** Feishu documents character references as the way to write its special characters. */
  feishu: {
    text: entityText,
    codeSpan: (code) => `\`${chatCode(flat(code))}\``,
    codeBlock: (language, code) => fenced(language, chatCode(code)),
    codeBar: "|",
    strong: "**",
    emphasis: "*",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  },
  /** WeCom has no escapes: what it would read is broken. It knows no fences. */
  wecom: {
    text: (text, atStart) => {
      const broken = inertText(text)
        .replace(/<(?=\S|$)/g, `<${zeroWidth}`)
        .replace(/\](?=\(|$)/g, `]${zeroWidth}`)
        .replaceAll("`", "\u02cb")
      return atStart ? broken.replace(/^(?=[#>])/, zeroWidth) : broken
    },
    codeSpan: (code) => `\`${chatCode(flat(code))}\``,
    codeBlock: (_, code) =>
      withoutMarkers(withoutControls(code))
        .replace(/\n$/, "")
        .split("\n")
        .map((line) => `> ${chatCode(inertText(unlinked(line)))}`)
        .join("\n"),
    codeBar: "|",
    strong: "**",
    emphasis: "",
    link: (text, url) => `[${text}](${url})`,
    quote: "> "
  }
} as const satisfies Record<string, TextGrammar>
