/**
 * Explains syntax errors of YAML for editors of configuration files, with the line. The parser continues after an error and reports its
 * consequences, so only the first three are displayed. Pure.
 */
import type { YAMLError } from "yaml"

export const maxSyntaxErrors = 3

const words: Readonly<Record<string, string>> = {
  ALIAS_PROPS: "an alias (*name) has no anchor or tag of its own; remove it",
  BAD_ALIAS: "an alias needs a name after the *; quote the text if it begins with *",
  BAD_COLLECTION_TYPE: "the tag does not fit the list or map after it; remove the tag",
  BAD_DIRECTIVE: "a directive (%…) that YAML does not have; remove the line",
  BAD_DQ_ESCAPE: "an escape that double quotes do not have; use single quotes, or write \\\\ for a backslash",
  BAD_INDENT: "the indentation does not fit the lines above; begin it in the same column as its neighbours",
  BAD_PROP_ORDER: "an anchor or tag is in the wrong place; write it right before its value",
  BAD_SCALAR_START: "a text cannot begin with this character; put it in quotes",
  BLOCK_AS_IMPLICIT_KEY:
    "a map within a line: there is a second `key:` in a value; put the value in quotes, or begin a new line",
  BLOCK_IN_FLOW: "a block list or map inside brackets; write it with brackets too, or close them before it",
  DUPLICATE_KEY: "the key is duplicate; keep one",
  IMPOSSIBLE: "this cannot be read; check the lines above it",
  MISSING_CHAR: "something is not closed or separated: a quote, a bracket, a comma, or the space after a colon",
  MULTILINE_IMPLICIT_KEY: "a key that goes over several lines; a `:` or a closing quote is missing",
  MULTIPLE_ANCHORS: "two anchors for one value; keep one",
  MULTIPLE_DOCS: "more than one document in the text; one is read",
  MULTIPLE_TAGS: "two tags for one value; keep one",
  NON_STRING_KEY: "a key that is not text",
  RESOURCE_EXHAUSTION: "the document is nested too deeply",
  TAB_AS_INDENT: "a tab is used for indentation; use spaces",
  TAG_RESOLVE_FAILED: "an unresolved tag (!…); tags are not used here, remove it",
  UNEXPECTED_TOKEN: "this does not belong here; a quote, a bracket or a colon before it may be missing or too many"
}

/** Masks a line of a file that may contain secrets: values of credentials and long words without spaces. */
export const shownLine = (line: string): string => {
  const masked = line
    .replace(
      /^(\s*(?:-\s+)?["']?[\w.-]*(?:token|secret|password|ticket|key|hash|credential|url)[\w.-]*["']?\s*:\s*)\S.*$/i,
      "$1********"
    )
    .replace(/[^\s:,{}[\]"']{20,}/g, "********")
    .trimEnd()
  return masked.length > 80 ? `${masked.slice(0, 79)}…` : masked
}

/** Returns the kind of delimiter that the parser found no end of. */
export const unclosed = (message: string): "quote" | "bracket" | undefined =>
  /^Missing closing .quote/.test(message)
    ? "quote"
    : /^Flow .* end with a/.test(message) || /^Expected flow .* to end with/.test(message)
      ? "bracket"
      : undefined

const whatOf = ({ code, message }: Pick<YAMLError, "code" | "message">): string => {
  const open = unclosed(message)
  if (open === "quote") return "a quote that begins here is not closed; close it, or escape quotes inside"
  if (open === "bracket") return "a bracket that begins here is not closed; close it"
  if (/followed by map values/.test(message)) return "a key without a value; write `key: value`"
  if (/without - indicator/.test(message)) return words["BAD_INDENT"] ?? ""
  return words[code] ?? "this cannot be read"
}

export const syntaxProblem = (error: Pick<YAMLError, "code" | "message">, line: string): string => {
  const shown = shownLine(line)
  const what = whatOf(error)
  return `not valid YAML: ${what}${shown.trim() === "" ? "" : `; the line is: ${shown.trim()}`}`
}
