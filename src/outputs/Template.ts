/**
 * Handlebars for comments: without HTML escaping (the output is Markdown and the values are already sanitised), prototype access
 * and partials, so that a template can read only the documented variables. A compile error is returned as text, never thrown.
 */
import { createRequire } from "node:module"
import { Result } from "effect"

export type Template = (view: object) => Result.Result<string, string>

let engine: typeof import("handlebars") | undefined
/** Loaded with the first template, because a node without reviews needs none. */
const load = (): typeof import("handlebars") => (engine ??= createRequire(import.meta.url)("handlebars").create())

/** Removes an optional front matter block. */
const stripFrontmatter = (source: string): string => source.replace(/^\ufeff?---\r?\n[\s\S]*?\r?\n---\r?\n/, "")

const compiled = new Map<string, Result.Result<Template, string>>()
/**
 * Upper bound for the cache. Templates come from configuration, so there are few; reloads with new ones must not grow it without
 * bounds.
 */
const maxCompiled = 500

export const compile = (source: string): Result.Result<Template, string> => {
  const cached = compiled.get(source)
  if (cached !== undefined) return cached
  if (compiled.size >= maxCompiled) compiled.clear()
  const result = Result.try({ try: () => prepare(source), catch: toMessage })
  compiled.set(source, result)
  return result
}

const prepare = (source: string): Template => {
  const body = stripFrontmatter(source)
  // compile() is lazy: parsing here reports errors when the template is read, not when it is used.
  load().parse(body)
  const render = load().compile(body, { noEscape: true, knownHelpersOnly: true })
  return (view) =>
    Result.try({
      try: () => render(view, { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false }),
      catch: toMessage
    })
}

const toMessage = (cause: unknown): string =>
  cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause)
