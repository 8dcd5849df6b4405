/**
 * Handlebars for comments: no HTML escaping (the output is markdown and the values are made safe before), no prototype access, and no
 * partials, so that a template reaches nothing but the documented variables. A template that does not compile is reported
 * as text, never thrown.
 */
import { Result } from "effect"
import Handlebars from "handlebars"

export type Template = (view: object) => Result.Result<string, string>

const engine = Handlebars.create()

/** The text below an optional frontmatter block. */
const bodyOf = (source: string): string => source.replace(/^\ufeff?---\r?\n[\s\S]*?\r?\n---\r?\n/, "")

const compiled = new Map<string, Result.Result<Template, string>>()
/** Templates come from configuration, so there are few; a store that keeps publishing new ones must not grow without end. */
const mostKept = 500

export const compile = (source: string): Result.Result<Template, string> => {
  const known = compiled.get(source)
  if (known !== undefined) return known
  if (compiled.size >= mostKept) compiled.clear()
  const made = Result.try({ try: () => prepare(source), catch: wordsOf })
  compiled.set(source, made)
  return made
}

const prepare = (source: string): Template => {
  const body = bodyOf(source)
  // compile() is lazy: parsing here finds errors when the template is read, not when it is used.
  engine.parse(body)
  const render = engine.compile(body, { noEscape: true, knownHelpersOnly: true })
  return (view) =>
    Result.try({
      try: () => render(view, { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false }),
      catch: wordsOf
    })
}

const wordsOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause)
