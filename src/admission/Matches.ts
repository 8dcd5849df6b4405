/** Matchers of configuration against a field: glob or linear-time regular expression, compiled once per matcher. */
import { RE2JS } from "re2js"

export interface Matcher {
  readonly glob?: string | undefined
  readonly regex?: string | undefined
  readonly ignore_case?: boolean | undefined
}

const compiled = new WeakMap<Matcher, RE2JS>()

/** `*` is any text, `?` one code point, everything else itself; over the whole field. */
const globPattern = (glob: string): string =>
  `^${[...glob].map((char) => (char === "*" ? ".*" : char === "?" ? "." : RE2JS.quote(char))).join("")}$`

const compile = (matcher: Matcher): RE2JS => {
  const known = compiled.get(matcher)
  if (known !== undefined) return known
  const pattern = matcher.glob === undefined ? (matcher.regex ?? "") : globPattern(matcher.glob)
  const flags = (matcher.ignore_case ? RE2JS.CASE_INSENSITIVE : 0) | (matcher.glob === undefined ? 0 : RE2JS.DOTALL)
  const made = RE2JS.compile(pattern, flags)
  compiled.set(matcher, made)
  return made
}

/** False for a field that is not known. */
export const matches = (matcher: Matcher, value: string | undefined): boolean =>
  value !== undefined && compile(matcher).matcher(value).find()
