/** Tests, with the real program, that a start ends with the setting of a folder that it cannot write to. */
import { spawn } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { describe, expect, it } from "vitest"
import { parse, stringify } from "yaml"
import { dataFolders } from "../../src/app/DataFolders.ts"
import { withValueAt } from "../../src/config/document/Path.ts"
import { roles } from "../../src/domain/Role.ts"
import { freePort } from "../harness/FreePort.ts"
import { SmallDisk } from "../harness/SmallDisk.ts"
import { testSnapshot } from "../harness/TestSnapshot.ts"
import { temporaryFolder } from "../vcs/Repository.ts"

const main = resolve(import.meta.dirname, "../../src/main.mjs")
const env = {
  PATH: process.env["PATH"],
  TOKEN: "token-of-the-test",
  SECRET: "secret-of-the-test",
  KEY: "key-of-the-test"
}

const document = (folder: string, port: number): unknown =>
  parse(`
    server: { port: ${port} }
    triggers:
      - { name: gitea, kind: gitea, base_url: "http://127.0.0.1:9", token_env: TOKEN, webhook_secret_env: SECRET }
    workspaces:
      root: ${folder}/workspaces
      instances: { app: { source_repo: { trigger: gitea, repo: team/app } } }
    llm:
      providers: [{ id: main, kind: openai_compatible, base_url: "http://127.0.0.1:9/v1", api_key_env: KEY }]
      model_chain: { default: [{ provider: main, model: m, role: any }] }
    outputs:
      channels: [{ name: review, kind: gitea_pr_review }]
      routes: { default: { line_comments: [review], summary: [review] } }
    storage:
      database: { kind: sqlite, sqlite: { path: ${folder}/aicr.db } }
      object: { kind: filesystem, filesystem: { root: ${folder}/objects } }
    queue: { kind: sqlite, sqlite: { path: ${folder}/queue.db } }
  `)

/** Starts the service with one setting replaced. Returns its exit code, null if it had to be killed, and its errors. */
const start = async (folder: string, setting: ReadonlyArray<string>, value: string) => {
  const config = join(temporaryFolder(), "config.yaml")
  writeFileSync(config, stringify(withValueAt(document(folder, await freePort()), setting, value)))
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, "serve", "--config", config], {
    env,
    timeout: 60_000,
    killSignal: "SIGKILL"
  })
  let text = ""
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => (text += String(part)))
  const code = await new Promise((done) => void child.once("close", done))
  return { code, text, config }
}

const database = ["storage", "database", "sqlite", "path"]

describe("a start with a folder that it cannot use", { timeout: 90_000 }, () => {
  it.each([
    [
      "below /proc",
      database,
      "/proc/aicr-none/data/aicr.db",
      "/proc/aicr-none/data: ENOENT: no such file or directory"
    ],
    ["below a regular file", ["queue", "sqlite", "path"], "FILE/data/queue.db", "FILE/data: ENOTDIR: not a directory"],
    ["of a read-only file system", ["storage", "object", "filesystem", "root"], "/sys/aicr-none", "/sys/aicr-none: E"],
    ["that is a regular file", ["workspaces", "root"], "FILE", "FILE: FILE is not a folder"]
  ])("%s exits with 2 and names the setting, its line and the folder", async (_, setting, value, problem) => {
    const folder = temporaryFolder()
    const file = join(temporaryFolder(), "file")
    writeFileSync(file, "")
    const [path, expected] = [value, problem].map((text) => text.replaceAll("FILE", file))
    const { code, config, text } = await start(folder, setting, path ?? "")
    expect([code, text]).toEqual([2, expect.stringContaining(`cannot write to the folder ${expected}`)])
    expect(text).toMatch(new RegExp(String.raw`^${config}:\d+ ${setting.join(".")}: `))
    // Nothing else was opened.
    expect(existsSync(join(folder, "workspaces", ".lock"))).toBe(false)
  })

  it.skipIf(!SmallDisk.isPossible)("on a full disk exits with 3 and names the file", async () => {
    using disk = new SmallDisk(join(temporaryFolder(), "disk"), 1)
    disk.fill()
    const path = join(disk.folder, "aicr.db")
    const { code, text } = await start(temporaryFolder(), database, path)
    expect([code, text]).toEqual([3, expect.stringContaining(`SQLite file ${disk.folder}/.lock`)])
    expect(text).toContain("The disk is full; free some space")
  })

  it.skipIf(!SmallDisk.isPossible)(
    "on a disk that takes no more files exits with 3 and names the setting",
    async () => {
      using disk = new SmallDisk(join(temporaryFolder(), "disk"), 1, 1)
      const { code, text } = await start(temporaryFolder(), ["workspaces", "root"], disk.folder)
      const problem = `workspaces.root: cannot write to the folder ${disk.folder}: ENOSPC`
      expect([code, text]).toEqual([3, expect.stringContaining(problem)])
    }
  )
})

it("checks the folders of the configured stores, and those of reviews on nodes with executors only", () => {
  const settings = (tree: unknown, ...held: ReadonlyArray<(typeof roles)[number]>) =>
    dataFolders(testSnapshot(tree), new Set(held)).map(({ folder, path }) => `${path.join(".")} ${folder}`)
  const stores = { storage: { database: { kind: "sqlite", sqlite: { path: "data/a.db" } } } }
  const local = { ...stores, queue: { kind: "sqlite", sqlite: { path: "/q/queue.db" } } }
  const [records, queue] = ["storage.database.sqlite.path /nowhere/data", "queue.sqlite.path /q"]
  expect(settings(local, "ingress")).toEqual([records, queue])
  const reviews = ["storage.object.filesystem.root /app/data/objects", "workspaces.root /nowhere/workspaces"]
  expect(settings(local, ...roles)).toEqual([records, queue, ...reviews])
  const shared = { storage: { database: { kind: "postgres" }, object: { kind: "s3" } }, queue: { kind: "redis" } }
  expect(settings(shared, "executor")).toEqual(["workspaces.root /nowhere/workspaces"])
})
