/**
 * Configuration at 5 000 workspaces: loading against parsing the YAML alone, and routing one webhook among them.
 *
 * The document has every kind of binding in equal parts: one repository, exact names, globs over an organisation, globs with
 * other fields, anchored regular expressions, and folded case. It stays under the 1 MiB that a file may have. The parser is
 * timed without its own search for duplicate keys, whose cost grows with the square of the keys.
 */
import { parse } from "yaml"
import { readText } from "../../src/config/LoadConfig.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"

const bindings: ReadonlyArray<(n: number) => string> = [
  (n) => `source_repo: {trigger: git, repo: org-${n}/app}`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {exact: org-${n}/app}}}]`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {glob: org-${n}/*}}}]`,
  (n) => `match: [{source: {namespace: {exact: org-${n}}, branch: {glob: rel*}}}]`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {regex: ^org-${n}/.+}}}]`,
  (n) => `match: [{source: {repo_ref: {glob: Org-${n}/*, ignore_case: true}}}]`
]

/** A document with this many workspaces, `org-0` and up. */
export const documentOf = (workspaces: number): string =>
  [
    "llm: {providers: [{id: main, kind: openai_compatible, base_url: http://localhost:1/v1}], model_chain: {default: [{provider: main, model: m}]}}",
    "triggers: [{name: git, kind: gitea, base_url: http://localhost:2, webhook_secret_env: SECRET}]",
    "review: {exclude: [dist/**]}",
    "workspaces:",
    "  instances:",
    ...Array.from(
      { length: workspaces },
      (_, n) =>
        `    w${n}: {${bindings[n % bindings.length]?.(n) ?? ""}${n % 4 === 0 ? ", review: {max_files: 9}" : ""}}`
    )
  ].join("\n")

const load = (text: string): Snapshot => {
  const { snapshot, issues } = readText(text, { SECRET: "s" })
  if (snapshot === undefined)
    throw new Error(`the document of the benchmark is invalid: ${JSON.stringify(issues.slice(0, 3))}`)
  return snapshot
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const cpuMillis = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** CPU time of one routing decision in microseconds, over webhooks for every workspace in turn. */
const routeMicros = (snapshot: Snapshot, workspaces: number): number => {
  const round = (): void => {
    for (let n = 0; n < 20_000; n++) {
      const org = n % workspaces
      const found = snapshot.route("git", { vcs: "gitea", repo_ref: `org-${org}/app`, branch: "rel1" })
      if (found.length !== 1 || found[0]?.id !== `w${org}`)
        throw new Error(`org-${org}/app routes to ${found.length} workspaces`)
    }
  }
  round()
  return (median(Array.from({ length: 7 }, () => cpuMillis(round))) * 1000) / 20_000
}

export const config = {
  name: "config",
  summary: "loading 5 000 workspaces and routing one webhook among them",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const say = (line: string): void => {
      process.stdout.write(`${line}\n`)
    }
    const text = documentOf(5000)
    const [few, many] = [load(documentOf(50)), load(text)]
    parse(text, { uniqueKeys: false })
    const parsing: Array<number> = []
    const loading: Array<number> = []
    for (let round = 0; round < 5; round++) {
      parsing.push(cpuMillis(() => parse(text, { uniqueKeys: false })))
      loading.push(cpuMillis(() => load(text)))
    }
    const result = {
      parse_ms: median(parsing),
      load_ms: median(loading),
      load_ratio: median(loading) / median(parsing),
      route_us: routeMicros(many, 5000),
      route_us_50: routeMicros(few, 50)
    }
    const rounded = Object.fromEntries(
      Object.entries({ ...result, route_growth: result.route_us / result.route_us_50 }).map(([key, value]) => [
        key,
        Math.round(value * 100) / 100
      ])
    )
    say(`document ${Buffer.byteLength(text)} bytes, 5000 workspaces`)
    for (const [key, value] of Object.entries(rounded)) say(`${key.padEnd(14)} ${value}`)
    return rounded
  }
}
