/**
 * Handlebars for comments: without HTML escaping (the output is Markdown and the values are already sanitised), prototype access
 * and partials, so that a template can read only the documented variables. Its work is limited (TemplateBudget.ts), so that it can be rendered on
 * any thread. An error of a template is returned as text, never thrown.
 */
import { createRequire } from "node:module"
import { Result } from "effect"
import {
  budgetHelpers,
  OverBudget,
  sourceProblem,
  startBudget,
  templateLimits,
  withCounters
} from "./TemplateBudget.ts"

export interface TemplateFailure {
  readonly message: string
  /** The template is too large, or its rendering exceeded a limit. */
  readonly isOverBudget: boolean
}

export type Template = (view: object) => Result.Result<string, TemplateFailure>

let engine: typeof import("handlebars") | undefined
/** Loaded with the first template, because a node without reviews needs none. */
const load = (): typeof import("handlebars") => (engine ??= createRequire(import.meta.url)("handlebars").create())

/** Removes an optional front matter block. */
const stripFrontmatter = (source: string): string => source.replace(/^\ufeff?---\r?\n[\s\S]*?\r?\n---\r?\n/, "")

const compiled = new Map<string, Result.Result<Template, TemplateFailure>>()
/**
 * Upper bound for the cache. Templates come from configuration, so there are few; reloads with new ones must not grow it without
 * bounds.
 */
const maxCompiled = 500

export const compile = (source: string): Result.Result<Template, TemplateFailure> => {
  const cached = compiled.get(source)
  if (cached !== undefined) return cached
  if (compiled.size >= maxCompiled) compiled.clear()
  const result = Result.try({ try: () => prepare(source), catch: toFailure })
  compiled.set(source, result)
  return result
}

const builtIn = new Map<string, (view: object) => string>()

/** Renders a built-in template, whose work needs no limit. */
export const renderBuiltIn = (source: string, view: object): string => {
  const render = builtIn.get(source) ?? load().compile(source, { noEscape: true, knownHelpersOnly: true })
  builtIn.set(source, render)
  return render(view)
}

/** Returns the processor time of this thread, which a busy machine does not use up. Node 22 cannot tell: there it is the time. */
const usedMillis =
  "threadCpuUsage" in process
    ? (): number => {
        const { system, user } = process.threadCpuUsage()
        return (user + system) / 1000
      }
    : (): number => performance.now()

const prepare = (source: string): Template => {
  const body = stripFrontmatter(source)
  const problem = sourceProblem(body)
  if (problem !== undefined) throw new OverBudget("source", problem)
  // compile() is lazy: parsing here reports errors when the template is read, not when it is used.
  const program = withCounters(load().parse(body))
  const render = load().compile(program, { noEscape: true, knownHelpersOnly: true, knownHelpers: budgetHelpers })
  let refused: { readonly failure: TemplateFailure; readonly until: number } | undefined
  return (view) => {
    // Another rendering would use up the budget again, for each problem of a review.
    if (refused !== undefined && performance.now() < refused.until) return Result.fail(refused.failure)
    return Result.try({
      try: () =>
        render(view, {
          allowProtoPropertiesByDefault: false,
          allowProtoMethodsByDefault: false,
          helpers: startBudget(templateLimits, usedMillis)
        }),
      catch: (cause) => {
        const failure = toFailure(cause)
        if (failure.isOverBudget)
          refused = { failure, until: isOverTime(cause) ? performance.now() + retryMillis : Infinity }
        return failure
      }
    })
  }
}

/** Time after which a template that exceeded its time is rendered again: the machine may have been busy. */
const retryMillis = 10 * 60 * 1000

const isOverTime = (cause: unknown): boolean => cause instanceof OverBudget && cause.budget === "millis"

/** A RangeError is that of the stack, which deeply nested tags exceed. */
const toFailure = (cause: unknown): TemplateFailure => ({
  message: cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : String(cause),
  isOverBudget: cause instanceof OverBudget || cause instanceof RangeError
})
