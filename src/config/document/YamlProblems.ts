/**
 * Explains syntax errors of YAML for editors of configuration files, with the line. The parser continues after an error and reports its
 * consequences, so only the first three are displayed. Pure.
 */
import type { YAMLError } from "yaml"
import type { Reason } from "../../domain/Reason.ts"

export const maxSyntaxErrors = 3

const reasons: Readonly<Record<string, Reason>> = {
  ALIAS_PROPS: { _tag: "AliasHasAnchor" },
  BAD_ALIAS: { _tag: "AliasWithoutName" },
  BAD_COLLECTION_TYPE: { _tag: "TagUnfit" },
  BAD_DIRECTIVE: { _tag: "DirectiveUnknown" },
  BAD_DQ_ESCAPE: { _tag: "EscapeUnknown" },
  BAD_INDENT: { _tag: "IndentationUnfit" },
  BAD_PROP_ORDER: { _tag: "AnchorMisplaced" },
  BAD_SCALAR_START: { _tag: "TextNeedsQuotes" },
  BLOCK_AS_IMPLICIT_KEY: { _tag: "MapInLine" },
  BLOCK_IN_FLOW: { _tag: "BlockInBrackets" },
  DUPLICATE_KEY: { _tag: "KeyIsDuplicate" },
  IMPOSSIBLE: { _tag: "LinesAboveUnreadable" },
  MISSING_CHAR: { _tag: "NotClosed" },
  MULTILINE_IMPLICIT_KEY: { _tag: "KeyOverLines" },
  MULTIPLE_ANCHORS: { _tag: "TwoAnchors" },
  MULTIPLE_DOCS: { _tag: "SeveralDocuments" },
  MULTIPLE_TAGS: { _tag: "TwoTags" },
  NON_STRING_KEY: { _tag: "KeyIsNoText" },
  RESOURCE_EXHAUSTION: { _tag: "NestedTooDeeply" },
  TAB_AS_INDENT: { _tag: "TabIndents" },
  TAG_RESOLVE_FAILED: { _tag: "TagUnresolved" },
  UNEXPECTED_TOKEN: { _tag: "TokenMisplaced" }
}

/** Masks a line of a file that may contain secrets: values of credentials and long words without spaces. */
const shownLine = (line: string): string => {
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

const reasonFor = ({ code, message }: Pick<YAMLError, "code" | "message">): Reason => {
  const open = unclosed(message)
  if (open !== undefined) return { _tag: open === "quote" ? "QuoteOpen" : "BracketOpen" }
  if (/followed by map values/.test(message)) return { _tag: "KeyWithoutValue" }
  if (/without - indicator/.test(message)) return { _tag: "IndentationUnfit" }
  return reasons[code] ?? { _tag: "Unreadable" }
}

export const syntaxProblem = (error: Pick<YAMLError, "code" | "message">, line: string): Reason => {
  const shown = shownLine(line).trim()
  return { _tag: "NotYaml", why: reasonFor(error), line: shown === "" ? undefined : shown }
}
