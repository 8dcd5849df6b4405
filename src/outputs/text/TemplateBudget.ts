/**
 * Limits the work of a template. Handlebars has no limit, and a short template with nested loops would occupy the event loop for years. So the parsed
 * template is changed before it is compiled: each block counts its statements whenever it runs, and each value is counted when it is written.
 * Only loops repeat anything, as partials and decorators are refused; therefore every step passes a counter, which ends the rendering at a limit. Pure.
 */
interface TemplateLimits {
  /** Statements that are executed, those of a loop each time. */
  readonly steps: number
  /** Length of the text, in bytes. */
  readonly bytes: number
  /** Processor time. */
  readonly millis: number
}

/** The summary of 500 problems needs about 10,000 steps. All steps take about 100 ms. */
export const templateLimits: TemplateLimits = { steps: 30_000, bytes: 1024 * 1024, millis: 500 }

/**
 * Limits of a template's text, several times those of the largest built-in one: parser and compiler are slow with long, many or nested tags, and
 * nothing limits them otherwise.
 */
const sourceLimits = { bytes: 64 * 1024, tags: 500, blocks: 100, "characters in tags": 8192, parentheses: 100 }
const sourceNames = ["bytes", "tags", "blocks", "characters in tags", "parentheses"] as const
const maxDepth = 100

/** Returns why a text is not parsed. */
export const sourceProblem = (source: string): string | undefined => {
  const found = {
    bytes: Buffer.byteLength(source),
    tags: source.split("{{").length - 1,
    blocks: source.match(/\{\{~?(?:[#^]|\s*else)/g)?.length ?? 0,
    "characters in tags": source.match(/\{\{[^}]*/g)?.reduce((sum, tag) => sum + tag.length, 0) ?? 0,
    parentheses: source.split("(").length - 1
  }
  const over = sourceNames.find((name) => found[name] > sourceLimits[name])
  return over === undefined ? undefined : `has ${found[over]} ${over}; at most ${sourceLimits[over]} are rendered`
}

/** Ends a rendering. The message is shown to people. */
export class OverBudget extends Error {
  readonly budget: keyof TemplateLimits | "source"
  constructor(budget: OverBudget["budget"], message: string) {
    super(message)
    this.budget = budget
  }
}

const units = { steps: "steps", bytes: "bytes of text", millis: "milliseconds of processor time" }

const exceed = (budget: keyof TemplateLimits, limits: TemplateLimits): never => {
  throw new OverBudget(budget, `exceeds its budget of ${limits[budget]} ${units[budget]}; repeat less in loops`)
}

/** Names of helpers that no template can write by chance; calling them only uses up the budget. */
const stepHelper = "\u0000step"
const writeHelper = "\u0000write"
export const budgetHelpers = { [stepHelper]: true, [writeHelper]: true, log: false }

/** Returns the helpers of one rendering. */
export const startBudget = (
  limits: TemplateLimits,
  usedMillis: () => number
): Readonly<Record<string, (...given: ReadonlyArray<unknown>) => string>> => {
  const deadline = usedMillis() + limits.millis
  const used = { steps: 0, bytes: 0 }
  const add = (moreSteps: number, moreBytes: number): void => {
    used.steps += moreSteps
    used.bytes += moreBytes
    if (used.steps > limits.steps) exceed("steps", limits)
    if (used.bytes > limits.bytes) exceed("bytes", limits)
    if (usedMillis() > deadline) exceed("millis", limits)
  }
  return {
    [stepHelper]: (statements, content) => {
      add(Math.max(1, Number(statements) || 0), Math.max(0, Number(content) || 0))
      return ""
    },
    [writeHelper]: (value) => {
      const text = value === undefined || value === null ? "" : String(value)
      add(0, Buffer.byteLength(text))
      return text
    }
  }
}

const pathTo = (name: string, loc: hbs.AST.SourceLocation): hbs.AST.PathExpression => ({
  type: "PathExpression",
  data: false,
  depth: 0,
  parts: [name],
  original: name,
  loc
})

const count = (value: number, loc: hbs.AST.SourceLocation): hbs.AST.NumberLiteral => ({
  type: "NumberLiteral",
  value,
  original: value,
  loc
})

/** Returns a block that counts its statements, and the values that it writes. */
const countProgram = (program: hbs.AST.Program, depth: number): hbs.AST.Program => {
  if (depth > maxDepth) throw new OverBudget("source", `nests blocks deeper than ${maxDepth}`)
  const body = program.body.map((statement) => countStatement(statement, depth))
  const content = program.body.reduce((sum, one) => sum + (isContent(one) ? Buffer.byteLength(one.value) : 0), 0)
  const { loc } = program
  const step: hbs.AST.MustacheStatement = {
    type: "MustacheStatement",
    path: pathTo(stepHelper, loc),
    params: [count(body.length, loc), count(content, loc)],
    hash: { type: "Hash", pairs: [], loc },
    escaped: true,
    strip: { open: false, close: false },
    loc
  }
  return { ...program, body: [step, ...body] }
}

const isContent = (node: hbs.AST.Statement): node is hbs.AST.ContentStatement => node.type === "ContentStatement"
const isBlock = (node: hbs.AST.Statement): node is hbs.AST.BlockStatement => node.type === "BlockStatement"
const isMustache = (node: hbs.AST.Statement): node is hbs.AST.MustacheStatement => node.type === "MustacheStatement"
const isPath = (node: hbs.AST.Expression): node is hbs.AST.PathExpression => node.type === "PathExpression"

const countStatement = (statement: hbs.AST.Statement, depth: number): hbs.AST.Statement => {
  if (isContent(statement) || statement.type === "CommentStatement") return statement
  if (isMustache(statement)) return { ...statement, ...written(statement) } as hbs.AST.Statement
  if (!isBlock(statement))
    throw new Error(`${statement.type} is not available: templates have no partials or decorators`)
  const { inverse, program } = statement
  return {
    ...statement,
    ...(program === undefined || program === null ? {} : { program: countProgram(program, depth + 1) }),
    ...(inverse === undefined || inverse === null ? {} : { inverse: countProgram(inverse, depth + 1) })
  } as hbs.AST.Statement
}

/** Passes the value of a tag to the helper that counts it. */
const written = ({ hash, loc, params, path }: hbs.AST.MustacheStatement) => {
  // A literal in place of a path is the name of a field.
  const target = isPath(path) ? path : pathTo(String((path as hbs.AST.StringLiteral).original), loc)
  const isCall = params.length > 0 || (hash?.pairs.length ?? 0) > 0
  const value = isCall ? { type: "SubExpression", path: target, params, hash, loc } : target
  return { path: pathTo(writeHelper, loc), params: [value], hash: { type: "Hash", pairs: [], loc } }
}

/** Returns the template with counters; throws if it is too large, or has something that is not available. */
export const withCounters = (program: hbs.AST.Program): hbs.AST.Program => countProgram(program, 0)
