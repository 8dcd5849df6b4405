/**
 * Verifies the import table: for every zone, files with one import each are linted under the repository's own rules, and exactly
 * those that the table forbids are refused.
 */
import { execFile } from "node:child_process"
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  actorOrder,
  contracts,
  depths,
  folders,
  openRooms,
  pathOf,
  pureFolders,
  purePlans,
  zones
} from "../../oxlint.config.ts"
import type { Folder, Zone } from "../../oxlint.config.ts"

const root = join(import.meta.dirname, "../..")

interface Row {
  readonly file: string
  readonly code: string
  readonly rule: string
  readonly refused: boolean
}

const importing = (file: string, from: string, refused: boolean): Row => ({
  file,
  code: `import { it } from "${from}"\nexport const used = it\n`,
  rule: "no-restricted-imports",
  refused
})

/** A function of this many lines, with a comment and a blank line in it. */
const functionOf = (lines: number): string => {
  const body = Array.from({ length: lines - 5 }, (_, at) => `  list.push(${at})`)
  return ["export const x = (list: Array<number>) => {", "  // why", "", ...body, "  return list", "}", ""].join("\n")
}

const rows: ReadonlyArray<Row> = [
  importing("src/domain/Case.ts", "../queue/Queue.ts", true),
  importing("src/domain/Case.ts", "node:fs", true),
  importing("src/domain/Case.ts", "effect/http", false),
  importing("src/domain/Case.ts", "uuid", true),
  importing("src/domain/Ids.ts", "uuid", false),
  importing("src/domain/Case.ts", "./Ids.ts", false),
  importing("nats/Case.ts", "../src/domain/Ids.ts", true),
  importing("nats/Case.ts", "../actors/Actors.ts", true),
  importing("nats/Case.ts", "@nats-io/jetstream", false),
  importing("nats/Case.ts", "effect/cluster", false),
  importing("nats/Case.ts", "ioredis", true),
  importing("nats/Case.ts", "node:child_process", true),
  importing("src/admission/Case.ts", "../store/Receipts.ts", true),
  importing("src/admission/Case.ts", "@effect/platform-node", true),
  importing("src/admission/Case.ts", "../config/Snapshot.ts", false),
  importing("src/review/Case.ts", "../vcs/Checkout.ts", true),
  importing("src/review/Case.ts", "undici", true),
  importing("src/review/anchor/Case.ts", "../../domain/Problem.ts", false),
  importing("src/config/Case.ts", "../store/Runs.ts", true),
  importing("src/config/schema/Case.ts", "../../domain/Kinds.ts", false),
  importing("src/engine/Case.ts", "../../actors/review/ReviewExecutor.ts", true),
  importing("src/engine/Case.ts", "../vcs/git/Mirror.ts", true),
  importing("src/engine/Case.ts", "../ingress/Webhooks.ts", true),
  importing("src/engine/Case.ts", "../vcs/Checkout.ts", false),
  importing("src/engine/Case.ts", "../review/Anchor.ts", false),
  importing("src/engine/Case.ts", "../outputs/OutputsLayer.ts", true),
  importing("src/engine/Case.ts", "../outputs/chat/BotChannel.ts", true),
  importing("src/engine/plan/Case.ts", "../../outputs/chat/BotChannel.ts", true),
  importing("src/engine/plan/Case.ts", "../../outputs/Outputs.ts", false),
  importing("src/engine/plan/Case.ts", "../../chat/Command.ts", false),
  importing("src/engine/plan/Case.ts", "../../../package.json", false),
  importing("src/outputs/Case.ts", "./review/Threads.ts", false),
  importing("src/outputs/chat/Case.ts", "../review/Threads.ts", false),
  importing("src/outputs/chat/Case.ts", "../../review/Identity.ts", true),
  importing("src/outputs/Case.ts", "../review/Identity.ts", true),
  importing("src/llm/wire/shape/Case.ts", "../../calls/Chain.ts", false),
  importing("src/llm/wire/shape/Case.ts", "../../../forge/Forge.ts", false),
  importing("src/llm/wire/shape/Case.ts", "../../../forge/http/Http.ts", true),
  importing("src/llm/wire/shape/Case.ts", "../../../../actors/Placement.ts", true),
  importing("eval/Case.ts", "../src/llm/Gateway.ts", false),
  importing("eval/datasets/Case.ts", "../../src/llm/calls/CallChain.ts", true),
  importing("eval/Case.ts", "../demo/Demo.ts", true),
  importing("eval/Case.ts", "../src/cli/Exit.ts", true),
  importing("src/cli/Case.ts", "../../eval/datasets/Sets.ts", false),
  importing("src/cli/local/Case.ts", "../../../eval/Score.ts", false),
  importing("src/cli/local/Case.ts", "../../config/schema/Llm.ts", false),
  importing("src/cli/local/Case.ts", "../../config/fields/Field.ts", true),
  importing("src/admin/Case.ts", "../../eval/Score.ts", true),
  importing("actors/Case.ts", "../src/forge/github/Client.ts", true),
  importing("actors/Case.ts", "../src/ingress/Webhooks.ts", true),
  importing("actors/Case.ts", "../nats/Subjects.ts", true),
  importing("actors/Case.ts", "../src/main.mjs", true),
  importing("actors/Case.ts", "../src/queue/Queue.ts", false),
  importing("actors/Case.ts", "../src/admission/Admit.ts", false),
  importing("src/observability/Case.ts", "../store/Runs.ts", true),
  importing("src/network/Case.ts", "../domain/Change.ts", true),
  importing("src/network/Case.ts", "undici", false),
  importing("src/database/Case.ts", "../store/Runs.ts", true),
  importing("src/database/Case.ts", "../config/Snapshot.ts", true),
  importing("src/database/Case.ts", "../domain/Backoff.ts", false),
  importing("src/queue/Case.ts", "../database/sqlite/SqliteDatabase.ts", false),
  importing("src/queue/core/Case.ts", "../operator/QueueControl.ts", false),
  importing("src/queue/core/Case.ts", "../journal/RedisJournal.ts", true),
  importing("src/queue/core/Case.ts", "../../../actors/scheduling/WorkspaceScheduler.ts", true),
  importing("src/queue/core/Case.ts", "pino", true),
  importing("src/queue/journal/Case.ts", "../core/Replica.ts", false),
  importing("src/queue/journal/Case.ts", "../operator/Operations.ts", true),
  importing("src/queue/journal/NatsCase.ts", "../../../nats/NatsLog.ts", false),
  importing("src/queue/journal/NatsCase.ts", "../operator/Operations.ts", true),
  importing("src/queue/dispatch/Case.ts", "../core/Heap.ts", true),
  importing("src/queue/dispatch/Case.ts", "../Plan.ts", false),
  importing("src/queue/operator/Case.ts", "../core/Heap.ts", false),
  importing("src/queue/operator/Case.ts", "../journal/JournalQueue.ts", true),
  importing("src/forge/Case.ts", "../database/sqlite/SqliteDatabase.ts", true),
  importing("actors/Case.ts", "../src/database/StoreError.ts", false),
  ...[...zones.adapters.of, ...zones.stores.of].flatMap((folder) => [
    importing(`src/${folder}/Case.ts`, "../../actors/scheduling/WorkspaceScheduler.ts", true),
    importing(`src/${folder}/Case.ts`, "../ingress/Webhooks.ts", true),
    importing(`src/${folder}/Case.ts`, "../../nats/Subjects.ts", true),
    importing(
      `src/${folder}/deep/Case.ts`,
      folder === "vcs" ? "../../forge/gitea/Client.ts" : "../../vcs/git/Mirror.ts",
      true
    ),
    importing(`src/${folder}/Case.ts`, "pino", true),
    importing(`src/${folder}/Case.ts`, "../domain/Change.ts", false),
    importing(`src/${folder}/Case.ts`, "../queue/Queue.ts", false),
    importing(`src/${folder}/NatsCase.ts`, "../../nats/Subjects.ts", false),
    importing(`src/${folder}/NatsCase.ts`, "../../actors/Actors.ts", true)
  ]),
  importing("src/llm/Case.ts", "@ai-sdk/openai", false),
  importing("src/agent/Case.ts", "@ai-sdk/openai", true),
  ...[...zones.edges.of, ...zones.cli.of].flatMap((folder) => [
    importing(`src/${folder}/Case.ts`, "../queue/journal/MemoryQueue.ts", true),
    importing(`src/${folder}/Case.ts`, "../app/Service.ts", true),
    importing(`src/${folder}/Case.ts`, "../store/deep/Sql.ts", true),
    importing(`src/${folder}/Case.ts`, folder === "cli" ? "../ingress/Webhooks.ts" : "../cli/Review.ts", true),
    importing(`src/${folder}/Case.ts`, "../../actors/Actors.ts", true),
    importing(`src/${folder}/Case.ts`, "../../actors/scheduling/WorkspaceScheduler.ts", false),
    importing(`src/${folder}/Case.ts`, "../forge/Forge.ts", false)
  ]),
  ...actorOrder.flatMap((actor, index) =>
    actorOrder
      .filter((other) => other !== actor)
      .map((other) => {
        const near = dirname(other) === dirname(actor) ? `./${basename(other)}` : `../${other}`
        return importing(`actors/${actor}.ts`, `${near}.ts`, actorOrder.indexOf(other) < index)
      })
  ),
  importing("src/app/Case.ts", "../queue/journal/MemoryQueue.ts", false),
  ...["src/app/Case.ts", "src/vcs/Case.ts", "nats/Case.ts", "actors/limits/WritePacer.ts", "test/case.test.ts"].flatMap(
    (file) => [
      importing(file, "@effect/platform-node", true),
      importing(file, "@effect/platform-node/NodeStream", file.startsWith("nats"))
    ]
  ),
  importing("demo/Case.ts", "../src/forge/gitea/Client.ts", false),
  ...[...pureFolders, "queue/core"].flatMap((folder) => {
    const row = (code: string, rule: string, refused = true): Row => ({
      file: `src/${folder}/Case.ts`,
      code: `${code}\n`,
      rule,
      refused
    })
    return [
      row("export const x = Date.now()", "no-restricted-properties"),
      row("export const x = new Date()", "no-restricted-globals"),
      row("export const x = Math.random()", "no-restricted-properties"),
      row("export const x = Math.max(1, 2)", "no-restricted-properties", false),
      row('export const x = process.env["HOME"]', "no-restricted-globals"),
      row("export const x = performance.now()", "no-restricted-globals"),
      row("export const x = crypto.randomUUID()", "no-restricted-globals"),
      row('import { Clock } from "effect"\nexport const x = Clock.currentTimeMillis', "no-restricted-imports"),
      row('import { Random } from "effect"\nexport const x = Random.next', "no-restricted-imports"),
      row('import { Effect } from "effect"\nexport const x = Effect.void', "no-restricted-imports", false),
      row('import { randomBytes } from "node:crypto"\nexport const x = randomBytes(1)', "no-restricted-imports"),
      row('import { createHash } from "node:crypto"\nexport const x = createHash', "no-restricted-imports", false)
    ]
  }),
  ...purePlans.map((file) => ({
    file,
    code: "export const x = Date.now()\n",
    rule: "no-restricted-properties",
    refused: true
  })),
  {
    file: "src/admission/Windows.ts",
    code: "export const x = Date.now()\n",
    rule: "no-restricted-properties",
    refused: true
  },
  {
    file: "src/admission/Windows.ts",
    code: "export const x = new Date(0)\n",
    rule: "no-restricted-globals",
    refused: false
  },
  { file: "src/vcs/Case.ts", code: "export const x = Date.now()\n", rule: "no-restricted-properties", refused: false },
  { file: "src/queue/Case.ts", code: "export const x: any = 1\n", rule: "no-explicit-any", refused: true },
  {
    file: "src/queue/Case.ts",
    code: "// @ts-ignore why not\nexport const x: number = 'a'\n",
    rule: "ban-ts-comment",
    refused: true
  },
  { file: "src/queue/Case.ts", code: "console.log(1)\n", rule: "no-console", refused: true },
  { file: "src/cli/Case.ts", code: "console.log(1)\n", rule: "no-console", refused: false },
  ...["actors/Case.ts", "nats/Case.ts", "src/store/Case.ts", "src/app/Case.ts"].flatMap((file) => [
    { file, code: functionOf(81), rule: "max-lines-per-function", refused: true },
    { file, code: functionOf(80), rule: "max-lines-per-function", refused: false }
  ]),
  {
    file: "test/case.test.ts",
    code: 'import { it } from "vitest"\nit.only("x", ({ expect }) => expect(1).toBe(1))\n',
    rule: "no-restricted-properties",
    refused: true
  },
  {
    file: "test/case.test.ts",
    code: 'import { it } from "@effect/vitest"\nimport { Effect } from "effect"\nit.effect.skip("x", () => Effect.void)\n',
    rule: "no-restricted-properties",
    refused: true
  }
]

/** Every row gets a name of its own where the name does not matter, so that one run of the linter judges them all. */
const place = (row: Row, index: number): string =>
  /Case\.ts$|case\.test\.ts$/.test(row.file) ? row.file.replace(/(Case|case)(?=\.)/, `$1${index}`) : row.file

interface Diagnostic {
  readonly code: string
  readonly filename: string
}

const lint = (directory: string): Promise<ReadonlyArray<Diagnostic>> =>
  new Promise((resolve, reject) => {
    const oxlint = join(root, "node_modules/oxlint/bin/oxlint")
    execFile(
      process.execPath,
      [oxlint, "--format", "json"],
      { cwd: directory, maxBuffer: 1 << 26 },
      (_failed, stdout, stderr) => {
        try {
          const report: { diagnostics: ReadonlyArray<Diagnostic> } = JSON.parse(stdout)
          resolve(report.diagnostics)
        } catch {
          reject(new Error(`oxlint printed no report: ${stdout}${stderr}`))
        }
      }
    )
  })

/** Returns a folder that is linted under the repository's rules. */
const lintedCopy = (): string => {
  const directory = mkdtempSync(join(tmpdir(), "aicr-imports-"))
  cpSync(join(root, "oxlint.config.ts"), join(directory, "oxlint.config.ts"))
  mkdirSync(join(directory, "node_modules"))
  symlinkSync(join(root, "node_modules/oxlint"), join(directory, "node_modules/oxlint"))
  return directory
}

const write = (directory: string, path: string, code: string): void => {
  mkdirSync(join(directory, dirname(path)), { recursive: true })
  writeFileSync(join(directory, path), code)
}

describe("import table", () => {
  let directories: ReadonlyArray<string> = []
  let found: ReadonlyMap<Row, ReadonlyArray<string>> = new Map()

  /** Rows that need the same file name (actors) go to different copies of the repository. */
  beforeAll(async () => {
    const copies: Array<Map<string, Row>> = []
    rows.forEach((row, index) => {
      const path = place(row, index)
      const copy = copies.find((candidate) => !candidate.has(path)) ?? copies[copies.push(new Map()) - 1]
      copy?.set(path, row)
    })
    directories = copies.map((copy) => {
      const directory = lintedCopy()
      for (const [path, row] of copy) write(directory, path, row.code)
      return directory
    })
    const reports = await Promise.all(directories.map(lint))
    found = new Map(
      copies.flatMap((copy, index) =>
        [...copy].map(([path, row]) => [
          row,
          (reports[index] ?? []).filter((entry) => entry.filename === path).map((entry) => entry.code)
        ])
      )
    )
  })

  afterAll(() => {
    for (const directory of directories) rmSync(directory, { recursive: true })
  })

  it.each(rows.map((row) => [row.file, row.code.split("\n")[0], row] as const))("%s: %s", (_file, _line, row) => {
    expect((found.get(row) ?? []).some((code) => code.includes(row.rule))).toBe(row.refused)
  })

  it("main.mjs is the only file directly in src", () => {
    const files = readdirSync(join(root, "src"), { withFileTypes: true }).filter((entry) => !entry.isDirectory())
    expect(files.map(({ name }) => name)).toEqual(["main.mjs"])
  })
})

describe("cycles", () => {
  it.each([
    [
      "values",
      'import { b } from "./B.ts"\nexport const a = () => b\n',
      'import { a } from "./A.ts"\nexport const b = () => a\n'
    ],
    [
      "types",
      'import type { B } from "./B.ts"\nexport type A = B\n',
      'import type { A } from "./A.ts"\nexport type B = A | 1\n'
    ]
  ])("of %s are refused", async (_name, a, b) => {
    const directory = lintedCopy()
    write(directory, "src/queue/A.ts", a)
    write(directory, "src/queue/B.ts", b)
    const codes = (await lint(directory)).map(({ code }) => code)
    rmSync(directory, { recursive: true })
    expect(codes.filter((code) => code.includes("no-cycle"))).toHaveLength(2)
  })
})

interface Import {
  /** Path of the file that imports, from the root of the repository. */
  readonly from: string
  /** Path of the imported file, or name of the package. */
  readonly of: string
}

const importsOf = (from: string): ReadonlyArray<Import> =>
  [...readFileSync(join(root, from), "utf8").matchAll(/(?:from |import\()"([^"]+)"/g)].map(([, name = ""]) => ({
    from,
    of: name.startsWith(".") ? join(dirname(from), name) : name
  }))

const code = ["src", "actors", "eval", "nats"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`)
)
const imports = code.flatMap(importsOf)

const isIn = (path: string, folder: Folder): boolean => path.startsWith(`${pathOf(folder)}/`)

/** The files directly in a folder with contracts, and its rooms that are contracts as a whole. */
const contractsOf = (folder: Folder): ReadonlyArray<string> => [
  ...code
    .filter((file) => dirname(file) === pathOf(folder) && !file.endsWith("Layer.ts"))
    .map((file) => basename(file)),
  ...openRooms.filter((room) => dirname(room) === folder).map((room) => basename(room))
]

/** Names the rows of the import table that allow what no file does. */
const deadRows = (
  table: Readonly<Record<string, Zone>>,
  contractFiles: ReadonlyMap<Folder, ReadonlyArray<string>>,
  used: ReadonlyArray<Import>
): ReadonlyArray<string> => [
  ...Object.entries(table).flatMap(([name, zone]) => {
    const own = used.filter(({ from }) => zone.of.some((folder) => isIn(from, folder)))
    return [
      ...zone.of
        .filter((folder) => !code.some((file) => isIn(file, folder)))
        .map((folder) => `${name}: folder ${folder}`),
      ...zone.open
        .filter((folder) => !own.some(({ of }) => isIn(of, folder)))
        .map((folder) => `${name}: open ${folder}`),
      ...(zone.packages ?? [])
        .filter((entry) => !own.some(({ of }) => of === entry || of.startsWith(`${entry}/`)))
        .map((entry) => `${name}: package ${entry}`)
    ]
  }),
  ...[...contractFiles].flatMap(([folder, files]) =>
    files
      .filter((file) => {
        const path = `${pathOf(folder)}/${file}`
        const isUsed = ({ from, of }: Import) =>
          !isIn(from, folder) && !isIn(from, "app") && (of === path || of.startsWith(`${path}/`))
        return !used.some(isUsed)
      })
      .map((file) => `contract ${folder}/${file}`)
  )
]

describe("rows of the import table", () => {
  it("allow nothing that no file does", () => {
    const all = new Map(contracts.map((folder) => [folder, contractsOf(folder)]))
    expect(all.get("forge")).toEqual(expect.arrayContaining(["Forge.ts", "swarm"]))
    expect(deadRows(zones, all, imports)).toEqual([])
  })

  it("reach the deepest room", () => {
    const deepest = Math.max(...code.map((file) => file.replace(/^src\//, "").split("/").length))
    expect(deepest).toBe(depths.length + 1)
  })

  it("that are dead are named", () => {
    const table: Readonly<Record<string, Zone>> = {
      made: { of: ["domain"], open: ["queue"], contracts: "none", packages: ["effect", "leftpad"] }
    }
    expect(deadRows(table, new Map([["queue", ["Queue.ts", "core/Heap.ts"]]]), imports)).toEqual([
      "made: open queue",
      "made: package leftpad",
      "contract queue/core/Heap.ts"
    ])
  })

  it("have every folder, every actor and every exempt file", () => {
    const present = readdirSync(join(root, "src"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => entry.name)
    expect(folders.toSorted()).toEqual([...present, "actors", "demo", "eval", "nats"].toSorted())
    const files = actorOrder.map((actor) => `actors/${actor}.ts`)
    expect(files.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})
