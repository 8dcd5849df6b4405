/**
 * The identity of a problem as reviews make it: anchored in a diff, named by the definition that the parser finds around it. Random
 * edits of files in seven languages: those that move or reformat code leave it, those that change the code do not.
 */
import * as fc from "fast-check"
import { Effect, Stream } from "effect"
import { describe, expect, it } from "vitest"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import { buildFindings } from "../../../src/engine/passes/Findings.ts"
import { readDiff } from "../../../src/engine/read/ReadDiff.ts"
import { ChangeThreads } from "../../../src/engine/ChangeThreads.ts"
import type { Checkout } from "../../../src/vcs/Checkout.ts"
import { testThreads } from "../../harness/Threads.ts"
import { noSearch } from "../../harness/NoSearch.ts"

interface Layout {
  readonly indent: string
  /** Braces on lines of their own, where the language has braces. */
  readonly tall: boolean
  /** Parameters on lines of their own. */
  readonly wide: boolean
  readonly gap: number
}

interface Routine {
  readonly name: string
  readonly statements: ReadonlyArray<string>
}

interface Language {
  readonly path: string
  readonly statement: (n: number) => string
  /** The same for every routine. */
  readonly common: string
  readonly print: (type: string, routines: ReadonlyArray<Routine>, layout: Layout) => ReadonlyArray<string>
}

const lines = (text: string): ReadonlyArray<string> => text.split("\n")

/** A type with routines, in a language with braces. */
const braces =
  (head: (type: string) => string, routine: (name: string, parameters: string) => string, afterType = "") =>
  (type: string, routines: ReadonlyArray<Routine>, { indent, tall, wide, gap }: Layout): ReadonlyArray<string> => {
    const open = (by: string, header: string) => (tall ? `${by}${header}\n${by}{` : `${by}${header} {`)
    const parts = (by: string) => (wide ? `\n${by}${indent}A a,\n${by}${indent}B b\n${by}` : "A a, B b")
    const blank = Array.from({ length: gap }, () => "")
    const inner = head(type) === "" ? "" : indent
    return lines(
      [
        ...(inner === "" ? [] : [open("", head(type))]),
        ...routines.flatMap(({ name, statements }) => [
          open(inner, routine(name, parts(inner))),
          ...statements.map((text) => `${inner}${indent}${text}`),
          `${inner}}`,
          ...blank
        ]),
        ...(inner === "" ? [] : [`}${afterType}`])
      ].join("\n")
    )
  }

const call = (n: number): string => `total = total + lookup(table, ${n});`
const languages: Readonly<Record<string, Language>> = {
  TypeScript: {
    path: "src/steps.ts",
    statement: call,
    common: "await client.close();",
    print: braces(
      (type) => `export class ${type}`,
      (name, parameters) => `async ${name}(${parameters.replace("A a", "a: A").replace("B b", "b: B")}): Promise<void>`
    )
  },
  Java: {
    path: "src/Steps.java",
    statement: call,
    common: "client.close();",
    print: braces(
      (type) => `public class ${type}`,
      (name, parameters) => `public void ${name}(${parameters})`
    )
  },
  "C#": {
    path: "src/Steps.cs",
    statement: call,
    common: "client.Close();",
    print: braces(
      (type) => `public class ${type}`,
      (name, parameters) => `public void ${name}(${parameters})`
    )
  },
  "C++": {
    path: "src/steps.cpp",
    statement: call,
    common: "client.close();",
    print: braces(
      (type) => `class ${type}`,
      (name, parameters) => `void ${name}(${parameters})`,
      ";"
    )
  },
  Rust: {
    path: "src/steps.rs",
    statement: call,
    common: "client.close();",
    print: braces(
      (type) => `impl ${type}`,
      (name, parameters) => `fn ${name}(${parameters.replace("A a", "a: A").replace("B b", "b: B")})`
    )
  },
  Go: {
    path: "src/steps.go",
    statement: (n) => `total = total + lookup(table, ${n})`,
    common: "client.Close()",
    // Its braces stay where they are, and a last parameter on a line of its own would need a comma.
    print: (type, routines, layout) =>
      braces(
        () => "",
        (name) => `func (s *${type}) ${name}(a A, b B)`
      )(type, routines, { ...layout, tall: false, wide: false })
  },
  Python: {
    path: "src/steps.py",
    statement: (n) => `total = total + lookup(table, ${n})`,
    common: "client.close()",
    print: (type, routines, { gap, indent, wide }) =>
      lines(
        [
          `class ${type}:`,
          ...routines.flatMap(({ name, statements }) => [
            wide
              ? `${indent}def ${name}(\n${indent}${indent}a,\n${indent}${indent}b\n${indent}):`
              : `${indent}def ${name}(a, b):`,
            ...statements.map((text) => `${indent}${indent}${text}`),
            ...Array.from({ length: gap }, () => "")
          ])
        ].join("\n")
      )
  }
}

interface Case {
  readonly language: string
  readonly routines: ReadonlyArray<Routine>
  /** Routine and statement of the problem, by index. */
  readonly at: readonly [number, number]
  readonly before: Layout
  readonly after: Layout
  /** Routines that come before and after. */
  readonly added: readonly [number, number]
  readonly turned: boolean
}

const layout: fc.Arbitrary<Layout> = fc.record({
  indent: fc.constantFrom("  ", "    ", "\t", "   "),
  tall: fc.boolean(),
  wide: fc.boolean(),
  gap: fc.nat({ max: 3 })
})

const someCase: fc.Arbitrary<Case> = fc.constantFrom(...Object.keys(languages)).chain((language) => {
  const { common, statement } = languages[language] ?? expectLanguage(language)
  const statements = fc.array(
    fc.oneof(
      { weight: 1, arbitrary: fc.constant(common) },
      { weight: 4, arbitrary: fc.nat({ max: 60 }).map(statement) }
    ),
    {
      minLength: 2,
      maxLength: 9
    }
  )
  return fc
    .uniqueArray(fc.nat({ max: 30 }), { minLength: 2, maxLength: 6 })
    .chain((ids) => fc.tuple(...ids.map((id) => statements.map((some) => ({ name: `step${id}`, statements: some })))))
    .chain((routines) =>
      fc.record({
        language: fc.constant(language),
        routines: fc.constant(routines),
        at: fc.tuple(fc.nat(), fc.nat()).map(([routine, index]) => {
          const which = routine % routines.length
          return [which, index % (routines[which]?.statements.length ?? 1)] as const
        }),
        before: layout,
        after: layout,
        added: fc.tuple(fc.nat({ max: 3 }), fc.nat({ max: 3 })),
        turned: fc.boolean()
      })
    )
})

const expectLanguage = (name: string): never => {
  throw new Error(`no language ${name}`)
}

/** Line of the problem, 1-based, by counting how often the statement was printed before. */
const lineOf = (printed: ReadonlyArray<string>, routine: Routine, index: number): number => {
  const header = printed.findIndex((line) => new RegExp(`\\b${routine.name}\\(`).test(line))
  const wanted = routine.statements[index] ?? ""
  let left = routine.statements.slice(0, index + 1).filter((text) => text === wanted).length
  for (let at = header; at < printed.length; at++) if (printed[at]?.trim() === wanted && --left === 0) return at + 1
  throw new Error(`${wanted} is not in\n${printed.join("\n")}`)
}

const diffOf = (path: string, printed: ReadonlyArray<string>): string =>
  [
    `diff --git a/${path} b/${path}`,
    "new file mode 100644",
    "--- /dev/null",
    `+++ b/${path}`,
    `@@ -0,0 +1,${printed.length} @@`,
    ...printed.map((line) => `+${line}`),
    ""
  ].join("\n")

const findingsIn = Effect.fnUntraced(
  function* (checkout: Checkout, diff: string, problems: ReadonlyArray<ReportedProblem>) {
    const change = yield* (yield* ChangeThreads).open(512)
    yield* change.run("beginDiff")
    yield* readDiff(change, Stream.succeed(Buffer.from(diff)), 1_000_000, 1_000_000)
    yield* change.run("selectRead", 0)
    return yield* buildFindings(change, checkout, problems, false)
  },
  Effect.scoped,
  Effect.provide(testThreads)
)

/** Identifies a reported problem as reviews do, with the line of its anchor. */
const identify = (path: string, printed: ReadonlyArray<string>, line: number, said: Partial<ReportedProblem> = {}) => {
  const checkout: Checkout = {
    directory: Effect.die("not asked for"),
    head: "h",
    from: "b",
    changes: () => Effect.die("not asked for"),
    sizes: () => Effect.die("not asked for"),
    diff: () => Stream.die("not asked for"),
    file: () => Effect.succeed(printed.join("\n")),
    list: () => Effect.succeed([]),
    blame: () => Effect.succeed([]),
    search: noSearch
  }
  return Effect.runPromise(
    Effect.map(
      findingsIn(checkout, diffOf(path, printed), [
        {
          file: path,
          line,
          severity: "high",
          category: "bug",
          message: "said so",
          quote: printed[line - 1]?.trim() ?? "",
          ...said
        }
      ]),
      ({ findings }) => ({ fingerprint: findings[0]?.fingerprint, line: findings[0]?.anchor?.line })
    )
  )
}

const filler = (language: Language, from: number, count: number): ReadonlyArray<Routine> =>
  Array.from({ length: count }, (_, at) => ({
    name: `filler${from + at}`,
    statements: [language.statement(70 + at), language.common]
  }))

/** 1000 with AICR_TEST_SCALE=10. */
const edits = 100 * Number(process.env["AICR_TEST_SCALE"] ?? 1)
const cases = (seed: number): ReadonlyArray<Case> => fc.sample(someCase, { numRuns: edits, seed })

describe("the identity of a problem, with definitions from the parser", () => {
  it(`is kept by at least 99 % of ${edits} edits that move or reformat the code`, async () => {
    const lost: Array<string> = []
    for (const { added, after, at, before, language: name, routines, turned } of cases(20_261_120)) {
      const language = languages[name] ?? expectLanguage(name)
      const routine = routines[at[0]] ?? expectLanguage("routine")
      const old = language.print("Steps", routines, before)
      const moved = turned ? routines.toReversed() : routines
      const now = language.print(
        "Steps",
        [...filler(language, 100, added[0]), ...moved, ...filler(language, 200, added[1])],
        after
      )
      const first = await identify(language.path, old, lineOf(old, routine, at[1]))
      const second = await identify(language.path, now, lineOf(now, routine, at[1]), {
        category: "logic",
        message: "said otherwise",
        title: "A title"
      })
      expect([first.line, second.line]).toEqual([lineOf(old, routine, at[1]), lineOf(now, routine, at[1])])
      if (first.fingerprint !== second.fingerprint) lost.push(`${name}\n${old.join("\n")}\n--\n${now.join("\n")}`)
    }
    process.stdout.write(`identity kept: ${edits - lost.length} of ${edits} edits that move or reformat\n`)
    expect(lost.length <= edits / 100 ? [] : lost.slice(0, 3)).toEqual([])
  }, 120_000)

  it(`is another one after at least 99 % of ${edits} edits that change the code`, async () => {
    const same: Array<string> = []
    for (const [index, { after, at, before, language: name, routines }] of cases(20_261_121).entries()) {
      const language = languages[name] ?? expectLanguage(name)
      const routine = routines[at[0]] ?? expectLanguage("routine")
      const statement = routine.statements[at[1]] ?? ""
      const old = language.print("Steps", routines, before)
      const first = await identify(language.path, old, lineOf(old, routine, at[1]))
      // Another figure, another operator, another object, or the same statement in another routine.
      const kind = index % 4
      const changed = [statement.replace(/\d+|close/i, "other"), statement.replace(/\+|\(/, "-("), `not_${statement}`][
        kind
      ]
      const other = { name: "elsewhere", statements: routine.statements }
      const edited =
        changed === undefined
          ? other
          : { ...routine, statements: routine.statements.map((text, here) => (here === at[1] ? changed : text)) }
      const now = language.print(
        "Steps",
        routines.map((each) => (each === routine ? edited : each)),
        after
      )
      const second = await identify(language.path, now, lineOf(now, edited, at[1]))
      if (second.line === undefined || first.fingerprint === second.fingerprint) same.push(`${name}\n${now.join("\n")}`)
    }
    process.stdout.write(`identity changed: ${edits - same.length} of ${edits} edits that change the code\n`)
    expect(same.length <= edits / 100 ? [] : same.slice(0, 3)).toEqual([])
  }, 120_000)
})
