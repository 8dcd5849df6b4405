import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import type { ReportedProblem } from "../../../src/domain/Problem.ts"
import {
  breaksSyntax,
  definitionsAround,
  definitionsAt,
  definitionsIn,
  usesInText
} from "../../../src/engine/syntax/Definitions.ts"
import { makeRepository } from "../../vcs/Repository.ts"
import { emptyReport, runEngine } from "../Fixture.ts"

const at = async (path: string, text: string) => {
  const line = text.split("\n").findIndex((one) => one.includes("HERE")) + 1
  const [chain] = await Effect.runPromise(definitionsAt({ head: "" }, path, text, [line]))
  return chain?.map(({ name, start, end }) => `${name} ${start}-${end}`)
}

it.each([
  ["a.ts", "const a = 1\n", "const a = (1\n", true],
  ["a.ts", "const a = 1\n", "const a = 2\n", false],
  ["a.py", "if x:\n    y()\n", "if x\n    y()\n", true],
  ["a.go", "package a\n\nfunc b() {\n}\n", "package a\n\nfunc b() {\n", true],
  ["a.ts", "const a = (1\n", "const a = ((1\n", false],
  ["a.rb", "x\n", "x(\n", false]
])("in %s the change of %j to %j breaks the syntax: %j", async (path, before, after, expected) => {
  expect(await Effect.runPromise(breaksSyntax(path, before, after))).toBe(expected)
})

describe("definitions around a line", () => {
  it.each([
    ["a.ts", "class Shop {\n  pay(a: number) {\n    HERE\n  }\n}\n", ["Shop 1-5", "pay 2-4"]],
    ["a.tsx", "const View = () => {\n  return <p>{HERE}</p>\n}\n", ["View 1-3"]],
    ["a.mjs", "exports.run = async function (\n  a\n) {\n  HERE\n}\n", ["exports.run 1-5"]],
    ["a.py", "class A:\n    def run(self,\n            x):\n        HERE\n", ["A 1-4", "run 2-4"]],
    ["a.go", "package a\n\nfunc (s *Shop) Pay(\n\ta int,\n) {\n\tHERE()\n}\n", ["Pay 3-7"]],
    ["A.java", "class A {\n  @Override\n  void run(int a)\n  {\n    HERE();\n  }\n}\n", ["A 1-7", "run 2-6"]],
    ["a.rs", "impl Shop {\n    fn pay<'a>(&'a self) {\n        HERE();\n    }\n}\n", ["impl Shop 1-5", "pay 2-4"]],
    ["a.c", "static int\nrun(int a)\n{\n  HERE();\n}\n", ["static int\nrun(int a) 1-5"]],
    ["a.cpp", "namespace n {\nvoid A::run(int a)\n{\n  HERE();\n}\n}\n", ["n 1-6", "void A::run(int a) 2-5"]],
    [
      "A.cs",
      "namespace N\n{\n  class A\n  {\n    void Run(int a)\n    {\n      HERE();\n    }\n  }\n}\n",
      ["N 1-10", "A 3-9", "Run 5-8"]
    ]
  ])("%s", async (path, text, expected) => expect(await at(path, text)).toEqual(expected))

  it("finds the top level, and reports what it cannot read", async () => {
    expect(await at("a.ts", "HERE()\n")).toEqual([])
    expect(await at("a.rb", "def x\n  HERE\nend\n")).toBeUndefined()
    expect(await at("a.ts", `HERE\n${" ".repeat(1_100_000)}`)).toBeUndefined()
  })

  it("serves many concurrent requests, and survives what does not parse", async () => {
    const broken = `${"((([{".repeat(2000)}\nHERE\n\u0000${"}".repeat(50)}`
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, (_, i) => at("a.go", `package a\nfunc F${i}() {\n\tHERE()\n}\n`)),
      at("a.cpp", broken)
    ])
    expect(answers.slice(0, 20)).toEqual(Array.from({ length: 20 }, (_, i) => [`F${i} 2-4`]))
  })

  it("takes a time in proportion to the text of definitions within definitions", async () => {
    const nested = (count: number) => `${"class A { b = class {".repeat(count)}\nHERE()\n${"}}".repeat(count)}`
    const started = performance.now()
    const chain = await at("a.js", nested(4000))
    expect(chain === undefined || chain.length > 1000).toBe(true)
    expect(performance.now() - started).toBeLessThan(8000)
    expect(await at("a.js", nested(1))).toEqual(["A 1-3", "b = class 1-3"])
  })

  it("finds those of many files in few messages, each at its own lines", async () => {
    const files = Array.from({ length: 40 }, (_, line) => ({
      path: line % 4 === 3 ? `a${line}.rb` : `a${line}.ts`,
      text: `${"\n".repeat(line)}function f${line}() {\n  return ${line}\n}\n`,
      lines: [line + 2, 1]
    }))
    const found = await Effect.runPromise(definitionsAround({ head: "" }, files))
    expect(found.map((chains) => chains.map((chain) => chain?.map(({ name, start }) => `${name} ${start}`)))).toEqual(
      files.map((_, line) =>
        line % 4 === 3 ? [undefined, undefined] : [[`f${line} ${line + 1}`], line === 0 ? ["f0 1"] : []]
      )
    )
  })

  it("gives up without harm when it is interrupted", async () => {
    const asked = definitionsAt({ head: "" }, "a.ts", "f(".repeat(200_000), [1])
    await Effect.runPromise(Effect.timeoutOption(asked, 1))
    expect(await at("a.ts", "function f() {\n  HERE\n}\n")).toEqual(["f 1-3"])
  })
})

describe("uses of a name", () => {
  it.each([
    ["a.ts", "const pay = () => 1\npay()\nshop.pay(1)\nnew pay()\npay;\n// pay()\n`${pay} pay`\n", "dcccuu"],
    ["a.py", "def pay(a):\n  pass\npay(1)\nself.pay(2)\nx = pay\n# pay\n'pay'\n", "dccu"],
    ["a.go", "package a\nfunc (s *S) pay() {}\nfunc f() { s.pay(); pay(); g(pay) }\n", "dccu"],
    ["A.java", "class A { void pay() { pay(); this.pay(); f(pay); } }\nclass B { pay b = new pay(); }\n", "dccuuc"],
    ["a.rs", "fn pay() {}\nfn f() { pay(); a::pay(); s.pay(); g(pay); pay!(1) }\nstruct S { pay: i32 }\n", "dcccucu"],
    ["a.c", "int *pay(int a) { return 0; }\nint b = pay(1) + s->pay(2);\nf(pay);\n", "dccu"],
    ["A.cs", "class A { void pay() { pay(); this.pay(); F(pay); } }\n", "dccu"]
  ])("%s", async (path, text, kinds) => {
    const uses = await Effect.runPromise(usesInText(path, text, ["pay"]))
    expect(uses?.map(({ kind }) => kind[0]).join("")).toBe(kinds)
  })

  it("are bounded, and unknown in other languages", async () => {
    expect(await Effect.runPromise(usesInText("a.ts", "pay()\n".repeat(1000), ["pay"]))).toHaveLength(200)
    expect(await Effect.runPromise(usesInText("a.rb", "pay()", ["pay"]))).toBeUndefined()
  })
})

describe("all definitions of a file", () => {
  const definitions = (...texts: ReadonlyArray<string>) =>
    Effect.runPromise(definitionsIn(texts.map((text) => ({ path: "a.ts", text: Effect.succeed(text) }))))

  it("come in order, with what they are in", async () => {
    const text = "export class Shop {\n  pay(a: number) {\n    return 1\n  }\n}\nexport const due = () => 1\n"
    const [found] = await definitions(text)
    expect(found?.map(({ name, isPublic }) => [name, isPublic])).toEqual([
      ["Shop", true],
      ["pay", true],
      ["due", true]
    ])
    const chains = await Effect.runPromise(definitionsAt({ head: "" }, "a.ts", text, [1, 2, 6]))
    expect(chains.map((chain) => chain?.map(({ name, header }) => [name, header.trim()]))).toEqual([
      [],
      [
        ["Shop", "class Shop"],
        ["pay", "pay(a: number)"]
      ],
      []
    ])
    const [many] = await Effect.runPromise(
      definitionsIn([{ path: "a.py", text: Effect.succeed("def a(): pass\n".repeat(3000)) }])
    )
    expect(many).toHaveLength(2000)
  })

  it("are the same only with the same header in the same definitions", async () => {
    const [a, b, c] = await definitions(
      "export class Shop {\n  pay(a: number) {}\n}\n",
      "\nexport class Shop {\n  pay(a:\n  number) { return 1 }\n}\n",
      "export class Bank {\n  pay(b: number) {}\n}\n"
    )
    expect(a?.map(({ key, signature }) => [key, signature])).toEqual(b?.map(({ key, signature }) => [key, signature]))
    expect(c?.[1]?.key).not.toBe(a?.[1]?.key)
    expect(c?.[1]?.signature).not.toBe(a?.[1]?.signature)
  })
})

const source = (name: string, wide: boolean) =>
  wide
    ? `class Shop\n{\n    public int ${name}(\n        int a,\n        int b)\n    {\n        Log(a);\n        return a / b;\n    }\n}\n`
    : `class Shop {\n  public int ${name}(int a, int b) {\n    Log(a);\n    return a / b;\n  }\n}\n`

describe("the engine with definitions", () => {
  const review = async (before: string, after: string) => {
    const repository = makeRepository()
    repository.write("Shop.cs", before)
    const base = repository.commit("base")
    repository.write("Shop.cs", after)
    const problem: ReportedProblem = {
      file: "Shop.cs",
      severity: "high",
      category: "bug",
      message: "m",
      quote: "return a / b;"
    }
    return runEngine({
      repository,
      base,
      head: repository.commit("head"),
      agent: () => Effect.succeed({ ...emptyReport, problems: [problem] })
    })
  }

  it("keeps the identity through a reformatting that moves every brace", async () => {
    const of = async (after: string) => (await review("class Other {}\n", after)).analysis.findings[0]?.fingerprint
    const first = await of(source("Pay", false))
    expect(await of(`using System;\n\n${source("Pay", true)}`)).toBe(first)
    expect(await of(source("Refund", false))).not.toBe(first)
  })

  it("shows the whole function around a hunk, and its name where it is too long", async () => {
    const body = (count: number, changed: string) =>
      `class Shop {\n  int Pay(int a) {\n${Array.from({ length: count }, (_, i) => `    Log(${i});\n`).join("")}${changed}\n${"    Log(99);\n".repeat(10)}  }\n  int Other() { return 1; }\n}\n`
    const short = (await review(body(20, "    return 1;"), body(20, "    return a / 0;"))).briefs[0]?.prompt
    expect(short).toContain("@@ -2,33 +2,33 @@ Shop > int Pay(int a)")
    expect(short).toContain("2:   int Pay(int a) {")
    const long = (await review(body(200, "    return 1;"), body(200, "    return a / 0;"))).briefs[0]?.prompt
    expect(long).toContain("@@ -200,7 +200,7 @@ Shop > int Pay(int a)")
  })
})
