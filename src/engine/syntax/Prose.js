/**
 * Finds what a file has for its readers instead of its compiler: comments, and texts, which may be for people. Positions only, so that
 * they can be kept in an outline; `src/review/Blind.ts` decides which texts are for people. JavaScript, as `SyntaxWorker.js` is.
 *
 * @typedef {import("@vscode/tree-sitter-wasm").Language} Language
 * @typedef {import("./Grammars.ts").Grammar} Grammar
 */
/** Kinds of marks. `code`: code in a text, such as a substitution; `documentation`: a text that is a statement; `rest`: the rest of a directive. */
export const comment = 0
export const text = 1
export const code = 2
export const documentation = 3
export const rest = 4

/** Files with more marks are not read without their texts. */
const maxMarks = 60_000

/** Roles of nodes. */
const [isOther, isComment, isText, isContent, isStatement, isJoined, isRest] = [0, 1, 2, 3, 4, 5, 6]

const comments = new Set(
  "comment line_comment block_comment html_comment hash_bang_line shebang_directive preproc_region preproc_endregion".split(
    " "
  )
)
const texts = new Set(
  "string template_string string_literal raw_string_literal interpreted_string_literal verbatim_string_literal interpolated_string_expression encapsed_string heredoc_body nowdoc_body raw_string ansi_c_string jsx_text".split(
    " "
  )
)
/** Children of a text that are a part of it; others are code. */
const contents = /content|fragment|escape|string|start|end|text|comment|brace|quote|encoding|delimiter/
const inserted = /interpolation$|substitution|expansion/

/** @type {(type: string, isNamed: boolean) => number} */
const roleOf = (type, isNamed) => {
  if (!isNamed) return isContent
  if (comments.has(type)) return isComment
  if (texts.has(type)) return isText
  if (type === "expression_statement") return isStatement
  if (type === "concatenated_string") return isJoined
  if (type === "preproc_arg") return isRest
  return contents.test(type) && !inserted.test(type) ? isContent : isOther
}

/** @type {(language: Language) => Uint8Array} */
export const proseRoles = (language) =>
  Uint8Array.from(language.types, (type, id) => roleOf(type, language.nodeTypeIsNamed(id)))

/**
 * Text in which a comment may be code: in Go the C before `import "C"`, in Java what escapes write.
 *
 * @type {Readonly<Record<string, RegExp>>}
 */
const hidden = { go: /import\s*\(?\s*"C"/, java: /\\u+00(?:0[aAdD]|2[aAfF])/ }

/**
 * Collects the marks of a file: `from`, `to` and kind of each, in the order of the text, an outer one before those in it. `roles` are those of its
 * language; `hasError`: the parser did not understand a part of it, where a comment may be hidden.
 *
 * @type {(text: string, grammar: Grammar, hasError: boolean) => { readonly enter: (role: number, around: number, from: number, to: number) => void, readonly marks: () => ReadonlyArray<number> | null }}
 */
export const collectProse = (content, grammar, hasError) => {
  /** @type {Array<number>} */
  const marks = []
  const isHidden = hidden[grammar.name]?.test(content) === true
  const limit = hasError || isHidden ? -1 : maxMarks * 3
  /** @type {(from: number, to: number, kind: number) => void} */
  const add = (from, to, kind) => {
    if (marks.length <= limit) marks.push(from, to, kind)
  }
  return {
    enter: (role, around, from, to) => {
      if (role === isComment) add(from, to, comment)
      else if (role === isRest) add(from, to, rest)
      else if ((role === isText || role === isJoined) && around === isStatement && grammar.name === "python") {
        add(from, to, documentation)
      } else if (role === isText) add(from, to, text)
      else if (around === isText && role !== isContent) add(from, to, code)
    },
    marks: () => (marks.length > limit ? null : marks)
  }
}
