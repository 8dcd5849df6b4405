/** Any text ends in a snapshot or in located errors; no error repeats a secret. */
import { Effect, Exit, Result } from "effect"
import * as fc from "fast-check"
import { mkdtemp, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { stringify } from "yaml"
import { formatIssue } from "../../src/config/ConfigIssue.ts"
import { ConfigInvalid, loadConfig, readText, toSnapshot } from "../../src/config/LoadConfig.ts"
import { isRecord } from "../../src/config/document/Path.ts"
import { jsonSchema } from "../../src/config/JsonSchema.ts"
import { inEnglish } from "../../src/text/en.ts"

const issuesOf = (text: string): ReadonlyArray<string> => readText(text, {}, { file: "c.yaml" }).issues.map(formatIssue)

describe("positions", () => {
  it.each([
    ["server:\n  port: 0\n", "c.yaml:2:9 server.port: expected a whole number from 1 to 65535, found the number 0"],
    ["server:\n  prot: 1\n", "c.yaml:2:3 server.prot: unknown key"],
    ["triggers:\n  - kind: manual\n", "c.yaml:2:5 triggers[0].name: missing; expected text of 1 to 4096 characters"],
    ["queue: { kind: kv_store }", "c.yaml:1:1 storage.cache.redis.url_env: missing; queue.kind redis needs it"],
    ["server: { port: 1 }\nserver: { port: 2 }\n", "c.yaml:2:1 server: duplicate key, first at line 1; keep one"],
    [
      "server:\n  auth: { api_key: a, api_key: b }",
      "c.yaml:2:23 server.auth.api_key: duplicate key, first at line 2; keep one"
    ],
    ["a: [", "c.yaml:1:4 not valid YAML: a bracket that begins here is not closed; close it; the line is: a: ["],
    ["a: 1\n---\nb: 2\n", "c.yaml:2:1 not valid YAML: more than one document in the text; one is read"],
    ["server: !!js/function x", "c.yaml:1:9 not valid YAML: an unresolved tag (!…)"],
    ["server: *nowhere", "c.yaml:1:9 server: an alias without an anchor before it"],
    ['a: "x\nb: 1\nc: 2\n', "c.yaml:1:4 not valid YAML: a quote that begins here is not closed"],
    ["a: b: c", "c.yaml:1:4 not valid YAML: a map within a line: there is a second `key:` in a value"],
    ["a:\n  b: 1\n c: 2\n", "c.yaml:3:1 not valid YAML: the indentation does not fit the lines above"],
    ["a: 1\nb\nc: 2\n", "c.yaml:2:1 not valid YAML: a key without a value; write `key: value`; the line is: b"],
    [
      "a: @x",
      "c.yaml:1:4 not valid YAML: a text cannot begin with this character; put it in quotes; the line is: a: @x"
    ],
    ["a:\n\t- x", "c.yaml:2:1 not valid YAML: a tab is used for indentation; use spaces"],
    [
      "review: { output_language: 7 }",
      "review.output_language: expected text of 1 to 4096 characters, found the number 7"
    ],
    ["server: { base_url: ftp://x }", 'URL without credentials, found "ftp://x"'],
    ["server: { base_url: 'https://u:hunter2@h' }", 'found "https://********@h"'],
    ["? [a]\n: 1", "c.yaml:1:3 a key that is not text"],
    ["- a\n", "c.yaml:1:1 expected a map of llm"],
    ["just text", "c.yaml:1:1 expected a map of llm"],
    ["a: &a 1\nb: &a { port: 0 }\nserver: *a\n", "c.yaml:2:15 server.port: expected a whole number"],
    ["a: { &k b: 1, c: *k, d: *x }", "c.yaml:1:25 a.d: an alias without an anchor before it"],
    ["server:\n\tport: 1", "c.yaml:2:1 not valid YAML"],
    ["x: &a { port: 0 }\nserver: *a\n", "c.yaml:1:15 server.port: expected a whole number"]
  ])("%j: %s", (text, issue) => {
    expect(issuesOf(text)).toContainEqual(expect.stringContaining(issue))
  })

  it("at the first place beyond a limit of the text", () => {
    expect(issuesOf(`a:\n  b: ${"[".repeat(101)}`)).toEqual(["c.yaml:2:105 the document is nested too deeply"])
    expect(issuesOf(`${"- ".repeat(101)}a`)).toEqual(["c.yaml:1:201 the document is nested too deeply"])
    const aliases = `a: [&a b${", *a".repeat(1001)}]`
    expect(issuesOf(aliases)).toEqual(["c.yaml:1:4011 a[1001]: more than 1000 aliases; write the value itself"])
  })

  it.each([
    `a: ${"[".repeat(99)}${"]".repeat(99)}\nb: ${"{a: ".repeat(99)}${"}".repeat(99)}`,
    `a: { ${Array.from({ length: 200 }, (_, at) => `k${at}: 1`).join(", ")} }`,
    `a: "${"[".repeat(200)}"\nb: |\n  ${"- ".repeat(200)}\nc: '${"{".repeat(200)}'\nd: x${"[".repeat(200)}`,
    `a: [&a b${", *a".repeat(1000)}]`
  ])("not for text that is within the limits, %#", (text) => {
    expect(issuesOf(text)).not.toContainEqual(expect.stringMatching(/nested|aliases|YAML/))
  })

  it.each(["__proto__", "constructor", "toString"])("with the kind %s, which every object has a field for", (kind) => {
    const text = `triggers: [{ name: t, kind: ${kind} }, { name: hub, kind: github }]
outputs: { channels: [{ name: c, kind: ${kind}, trigger: hub }] }
im: { connections: { c: { protocol: feishu_app } }, command_bindings: { b: { connection: c, conversations: [{ kind: ${kind} }] } } }`
    const issues = issuesOf(text)
    for (const field of ["triggers[0].kind", "outputs.channels[0].kind", "conversations[0].kind"])
      expect(issues).toContainEqual(expect.stringContaining(`${field}: expected one of`))
    expect(issues.filter((issue) => issue.includes("function") || issue.includes("native code"))).toEqual([])
  })

  it("at most three for what is not YAML, one of a line, and no secret in the line that is shown", () => {
    const text = `a: [\ntoken: hunter2-secret: x\nb: @\nc: @\nd: @\n`
    const issues = issuesOf(text)
    expect(issues.length).toBeGreaterThan(0)
    expect(issues.length).toBeLessThanOrEqual(3)
    const secrets = ["  token: hunter2: x", "private_key: 'hunter2", "x: hunter2hunter2hunter2hunter2: y"]
    for (const line of secrets) expect(issuesOf(line).join()).not.toContain("hunter2")
    const many = issuesOf(Array.from({ length: 9 }, (_, n) => `k${n}: @x`).join("\n"))
    expect(many).toHaveLength(3)
    expect(new Set(many.map((issue) => issue.split(":")[1])).size).toBe(3)
  })

  it("in order of the text", () => {
    const lines = issuesOf("server: { port: 0 }\nqueue:\n  kind: x\ntrigers: []\n").map((issue) => issue.split(":")[1])
    expect(lines).toEqual(["1", "2", "4"].map((line, index) => (index === 1 ? "3" : line)))
  })
})

describe("parts for anchors", () => {
  const text = (body: string) => readText(body, {})
  const base = "x-limits: &limits\n  max_passes: 3\n  max_files: 7\n"

  it("are keys of the document that begin with x-, and are merged with <<", () => {
    const { issues, snapshot } = text(`${base}review:\n  <<: *limits\n  max_files: 9\n`)
    expect(issues.filter(({ severity }) => severity === "error")).toEqual([])
    expect(snapshot?.document.review).toMatchObject({ max_passes: 3, max_files: 9 })
    const listed = text(`${base}x-more: &more\n  max_problems: 4\nreview:\n  <<: [*limits, *more]\n`)
    expect(listed.snapshot?.document.review).toMatchObject({ max_passes: 3, max_problems: 4 })
  })

  it("are refused elsewhere, and merges of anything but maps too", () => {
    const shown = (body: string) => text(body).issues.map(formatIssue)
    expect(shown("review:\n  x-note: a\n")).toEqual([expect.stringContaining('unknown key "x-note"')])
    for (const value of ["text", "[text]", "3", "&a [1]"])
      expect(shown(`review:\n  <<: ${value}\n`)).toEqual([
        expect.stringContaining("<< takes an alias of a map, or a list of them")
      ])
    expect(shown(`${base}review:\n  <<: *limits\n  max_pases: 1\n`)).toEqual([
      expect.stringContaining('did you mean "max_passes"')
    ])
  })
})

describe("limits", () => {
  it("an empty document is a valid one", () => {
    for (const text of ["", "# nothing\n", "---\n", "null", "{}"]) expect(readText(text, {}).snapshot).toBeDefined()
  })
  it("at most 1 MiB", () => {
    const text = `prompts: { system: { a: "${"x".repeat(1024 * 1024 - 31)}" } }\n`
    expect(Buffer.byteLength(text)).toBe(1024 * 1024)
    expect(readText(text, {}).snapshot).toBeDefined()
    expect(issuesOf(`${text} `)).toEqual([
      "c.yaml:1:1 the document has 1048577 bytes; at most 1048576 (1 MiB) are read"
    ])
  })
  it.each([
    ["lists in lists", "[".repeat(200_000)],
    ["maps in maps", "{a: ".repeat(100_000)],
    ["blocks in blocks", Array.from({ length: 700 }, (_, depth) => `${" ".repeat(depth)}a:`).join("\n")],
    [
      "aliases of aliases",
      `a: &a [x, x]\n${Array.from({ length: 40 }, (_, n) => `b${n}: &b${n} [*${n === 0 ? "a" : `b${n - 1}`}, *${n === 0 ? "a" : `b${n - 1}`}]`).join("\n")}`
    ]
  ])("%s are refused, not crashed on", (_, text) => {
    const { snapshot, issues } = readText(text, {})
    expect(snapshot).toBeUndefined()
    expect(issues.length).toBeGreaterThan(0)
  })
})

describe("any text", () => {
  /** Returns errors without a message or a position, and snapshots with errors. */
  const faults = (text: string): ReadonlyArray<unknown> => {
    const { snapshot, issues } = readText(text, {}, { file: "c.yaml", unset: "warnings" })
    const errors = issues.filter(({ severity }) => severity === "error")
    return [
      ...errors.filter(
        ({ reason, line = 0, column = 0 }) =>
          inEnglish(reason) === "" || inEnglish(reason).includes("undefined") || line < 1 || column < 1
      ),
      ...((snapshot === undefined) === errors.length > 0 ? [] : [{ snapshot, errors }])
    ]
  }
  const expectNoFaults = (texts: fc.Arbitrary<string>, numRuns: number): void =>
    fc.assert(
      fc.property(texts, (text) => {
        expect(faults(text)).toEqual([])
      }),
      { numRuns }
    )
  const yamlWords = fc.constantFrom(
    "a",
    ": ",
    "- ",
    "\n",
    "  ",
    "{",
    "}",
    "[",
    "]",
    "&x ",
    "*x",
    "!!",
    "|",
    ">",
    "'",
    '"',
    "#",
    "---",
    "server",
    "port",
    "? ",
    "null",
    "~",
    "<<",
    "\t",
    "💥",
    "1e999",
    "0x1"
  )

  it("of YAML's words", () => {
    expect.hasAssertions()
    expectNoFaults(
      fc.array(yamlWords, { maxLength: 30 }).map((words) => words.join("")),
      3000
    )
  })
  it("of anything", () => {
    expect.hasAssertions()
    expectNoFaults(fc.string({ unit: "binary", maxLength: 80 }), 1000)
  })

  /** Documents made of the schema's own keys with values of every kind. */
  const keysOf = (schema: unknown): ReadonlyArray<string> => {
    if (!isRecord(schema)) return Array.isArray(schema) ? schema.flatMap(keysOf) : []
    const own = isRecord(schema["properties"]) ? Object.keys(schema["properties"]) : []
    return [...own, ...Object.values(schema).flatMap(keysOf)]
  }
  const keys = [...new Set(keysOf(jsonSchema()))]
  const namespaces = [
    "llm",
    "triggers",
    "workspaces",
    "outputs",
    "prompts",
    "im",
    "agent",
    "review",
    "queue",
    "config_sources",
    "storage",
    "compression",
    "server",
    "admin"
  ]
  const { value } = fc.letrec<{ value: unknown; map: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom<unknown>(
        null,
        true,
        0,
        1,
        -1,
        1.5,
        "",
        "a",
        "gitea",
        "redis",
        "{{x}}",
        "09:00-18:00",
        "__proto__",
        [],
        {},
        ["a"]
      ),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("map")
    ),
    map: fc.dictionary(fc.constantFrom(...keys, "x", "constructor", "a b"), tie("value"), { maxKeys: 5 })
  }))
  it("of the document's own keys", () => {
    expect.hasAssertions()
    expectNoFaults(
      fc
        .dictionary(fc.constantFrom(...namespaces), value, { maxKeys: 5 })
        .map((document) => stringify(document, { aliasDuplicateObjects: false })),
      2000
    )
  })
})

describe("secrets", () => {
  const secret = "hunter2-secret-value"
  it.each([
    ["a variable's name that is the secret", `llm: { providers: [{ id: p, kind: ollama, api_key_env: ${secret} }] }`],
    ["a URL with credentials", `llm: { providers: [{ id: p, kind: ollama, base_url: "https://u:${secret}@h" }] }`],
    ["a secret under a wrong key", `server: { auth: { api_key: ${secret}, api_kye: ${secret} } }`],
    ["two forms", `triggers: [{ name: t, kind: github, token: ${secret}, token_env: ${secret} }]`],
    ["broken YAML", `server: { auth: { api_key: "${secret}`],
    ["a duplicate", `server: { auth: { api_key: ${secret}, api_key: ${secret} } }`],
    ["a wrong hash", `admin: { password_hash: ${secret} }`],
    ["text where a list belongs", `outputs: { author_resolution: { email_blacklist: ${secret} } }`]
  ])("%s is not repeated", (_, text) => {
    const issues = issuesOf(text)
    expect(issues.length).toBeGreaterThan(0)
    expect(issues.join("\n")).not.toContain(secret)
  })
  it("neither is a token that looks like a name", () => {
    const token = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    expect(
      issuesOf(`triggers: [{ name: t, kind: github, webhook_secret: s, token_env: ${token} }]`).join("\n")
    ).not.toContain(token)
  })
})

describe("loadConfig", () => {
  it("gives the snapshot of a file, whose directory is the base", async () => {
    const folder = await mkdtemp(join(tmpdir(), "aicr-config-"))
    await writeFile(join(folder, "c.yaml"), "server: { port: 9 }\n")
    const snapshot = await Effect.runPromise(loadConfig({ file: join(folder, "c.yaml") }, {}))
    expect([snapshot.document.server.port, snapshot.baseDir]).toEqual([9, folder])
  })
  it("fails with every error in its message", async () => {
    const exit = await Effect.runPromise(
      Effect.result(loadConfig({ text: "server: { port: 0 }\nqueue: { kind: x }\n" }, {}))
    )
    expect(
      Result.isFailure(exit) && exit.failure instanceof ConfigInvalid ? exit.failure.message.split("\n") : []
    ).toHaveLength(2)
  })
  it("names the file that cannot be read", async () => {
    const exit = await Effect.runPromiseExit(loadConfig({ file: "/nowhere/c.yaml" }, {}))
    expect(Exit.isFailure(exit)).toBe(true)
    expect(String(exit)).toContain("/nowhere/c.yaml: file not found")
  })
  it("takes a document in memory", async () => {
    const snapshot = await Effect.runPromise(toSnapshot({ queue: { kind: "embedded_sql" } }, {}, { baseDir: "/x" }))
    expect([snapshot.document.queue.kind, snapshot.baseDir]).toEqual(["sqlite", "/x"])
  })
})
