/**
 * Configuration at 5 000 workspaces: loading against parsing the YAML alone, and routing one webhook among them; publishing, activating
 * and reading revisions of the database (revisions.ts); statistics of 1 000 000 runs (statistics.ts).
 *
 * The document has every kind of binding in equal parts: one repository, exact names, globs over an organisation, globs with
 * other fields, anchored regular expressions, and folded case. It stays under the 1 MiB that a file may have. The parser is
 * timed without its own search for duplicate keys, whose cost grows with the square of the keys.
 */
import { parse } from "yaml"
import { readText } from "../../src/config/LoadConfig.ts"
import type { Snapshot } from "../../src/config/Snapshot.ts"
import { measureRevisions } from "./revisions.ts"
import { measureStatistics } from "./statistics.ts"
import { median } from "./Median.ts"

const bindings: ReadonlyArray<(n: number) => string> = [
  (n) => `source_repo: {trigger: git, repo: org-${n}/app}`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {exact: org-${n}/app}}}]`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {glob: org-${n}/*}}}]`,
  (n) => `match: [{source: {namespace: {exact: org-${n}}, branch: {glob: rel*}}}]`,
  (n) => `match: [{triggers: [git], source: {repo_ref: {regex: ^org-${n}/.+}}}]`,
  (n) => `match: [{source: {repo_ref: {glob: Org-${n}/*, ignore_case: true}}}]`
]

/** A document with this many workspaces, `org-0` and up. */
const documentOf = (workspaces: number): string =>
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

const cpuMillis = (work: () => unknown): number => {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** Routing decisions timed together: enough for the clock's resolution. */
const decisions = 20_000

/** CPU time of many routing decisions in microseconds each, over the webhooks of these workspaces one after the other. */
const routeMicros = (snapshot: Snapshot, workspaces: ReadonlyArray<number>): number => {
  const millis = cpuMillis(() => {
    for (let n = 0; n < decisions; n++) {
      const org = workspaces[n % workspaces.length] ?? 0
      const found = snapshot.route("git", { vcs: "gitea", repo_ref: `org-${org}/app`, branch: "rel1" })
      if (found.length !== 1 || found[0]?.id !== `w${org}`)
        throw new Error(`org-${org}/app routes to ${found.length} workspaces`)
    }
  })
  return (millis * 1000) / decisions
}

const every = (step: number, count: number): ReadonlyArray<number> => Array.from({ length: count }, (_, n) => n * step)

export const config = {
  name: "config",
  summary:
    "loading 5 000 workspaces, routing one webhook among them, revisions of the database, and statistics of 1 000 000 runs",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const writeLine = (line: string): void => {
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
    // Growth is over as many webhooks at both sizes, so that it measures the cost of more workspaces and not the effect of more
    // webhooks on the processor's cache; `route_us` is over all 5 000, cache misses included. The rounds alternate, so that other
    // load on the machine falls on all alike.
    const rounds = Array.from({ length: 12 }, () => ({
      all: routeMicros(many, every(1, 5000)),
      spread: routeMicros(many, every(101, 49)),
      few: routeMicros(few, every(1, 49))
    })).slice(2)
    const result = {
      parse_ms: median(parsing),
      load_ms: median(loading),
      load_ratio: median(loading) / median(parsing),
      route_us: median(rounds.map(({ all }) => all)),
      route_us_spread: median(rounds.map(({ spread }) => spread)),
      route_us_50: median(rounds.map((round) => round.few)),
      ...(await measureRevisions((count) => parse(documentOf(count), { uniqueKeys: false }).workspaces.instances)),
      ...(await measureStatistics())
    }
    const rounded = Object.fromEntries(
      Object.entries({ ...result, route_growth: result.route_us_spread / result.route_us_50 }).map(([key, value]) => [
        key,
        Math.round(value * 100) / 100
      ])
    )
    writeLine(`document ${Buffer.byteLength(text)} bytes, 5000 workspaces`)
    for (const [key, value] of Object.entries(rounded)) writeLine(`${key.padEnd(26)} ${value}`)
    return rounded
  }
}
