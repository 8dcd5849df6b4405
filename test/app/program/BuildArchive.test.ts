/** The release archive: what `npm pack` makes of the files of the image, installed in a folder with the packages that it needs. */
import { execFile } from "node:child_process"
import { builtinModules } from "node:module"
import { existsSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs"
import { cp, mkdir, readFile, symlink } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { Schema } from "effect"
import { beforeAll, describe, expect, it } from "vitest"
import { findProgram } from "../../../src/app/program/FindProgram.mjs"
import { temporaryFolder } from "../../vcs/Repository.ts"

const root = join(import.meta.dirname, "../../..")
const run = promisify(execFile)

const Lock = Schema.Struct({
  packages: Schema.Record(Schema.String, Schema.Struct({ dev: Schema.optional(Schema.Boolean) }))
})
const Manifest = Schema.Struct({ dependencies: Schema.Record(Schema.String, Schema.String) })
const read = <A>(schema: Schema.Decoder<A>, file: string): A =>
  Schema.decodeUnknownSync(Schema.fromJsonString(schema))(readFileSync(file, "utf8"))

/** Folders of the packages that `npm ci --omit=dev` installs. */
const installed = Object.entries(read(Lock, join(root, "package-lock.json")).packages).flatMap(([folder, { dev }]) =>
  folder === "" || dev === true ? [] : [folder]
)

/** Size on a disk with blocks of 4 KiB. */
const sizeOf = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + Math.ceil(statSync(join(entry.parentPath, entry.name)).size / 4096) * 4096, 0)

/** Makes the archive from what the first stage of the Dockerfile copies, by its command. */
const pack = async (): Promise<string> => {
  const folder = temporaryFolder()
  const [, stage = ""] = (await readFile(join(root, "Dockerfile"), "utf8")).split(/^FROM .*$/m)
  const copied = [...stage.matchAll(/^COPY (.*) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "))
  for (const name of copied)
    await cp(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true })
  await symlink(join(root, "node_modules"), join(folder, "node_modules"))
  const [, command = ""] = /^RUN (npm pack .*)$/m.exec(stage) ?? []
  const { stdout } = await run("sh", ["-c", command], { cwd: folder, env: { PATH: process.env["PATH"], HOME: folder } })
  expect(existsSync(join(folder, "npm-shrinkwrap.json"))).toBe(false)
  return join(folder, stdout.trim().split("\n").at(-1) ?? "")
}

describe("the release archive", () => {
  let archive: string
  /** Installed in node_modules, as by `npm install`: Node strips no types there. */
  let program: string

  beforeAll(async () => {
    archive = await pack()
    const modules = join(temporaryFolder(), "node_modules")
    program = join(modules, "aicr")
    await mkdir(program, { recursive: true })
    await run("tar", ["--extract", "--strip-components=1", `--file=${archive}`, `--directory=${program}`])
    for (const folder of installed) await cp(join(root, folder), join(modules, "..", folder), { recursive: true })
    await mkdir(join(program, "node_modules/.bin"), { recursive: true })
    symlinkSync(join(root, "node_modules/.bin/node"), join(program, "node_modules/.bin/node"))
  })

  it("has the program, the dashboard and the versions of the packages that it needs, and at most 12 MB", () => {
    const files = ["dist/program/licenses.txt", "dist/dashboard/index.html", "npm-shrinkwrap.json", "demo/change"]
    expect(files.filter((name) => !existsSync(join(program, name)))).toEqual([])
    expect(read(Lock, join(program, "npm-shrinkwrap.json"))).toEqual(read(Lock, join(root, "package-lock.json")))
    expect(findProgram(program)).toMatchObject({ isBundled: true })
    expect(statSync(archive).size).toBeLessThan(12_000_000)
    // Copies of a package must contain its license.
    expect(readFileSync(join(program, "dist/program/licenses.txt"), "utf8")).toMatch(
      /^effect \d\S+ \(MIT\)\n\nMIT License/m
    )
  })

  it("runs a whole review", async () => {
    const { stdout } = await run(join(program, "bin/aicr"), ["demo", "--once", "--json"], {
      cwd: temporaryFolder(),
      env: { PATH: process.env["PATH"], SVC_LOG_LEVEL: "error" }
    })
    const { comments, run: ended } = JSON.parse(stdout)
    expect([ended.status, comments.length]).toEqual(["succeeded", 9])
  })

  it("has every thread and every package that its modules load", () => {
    const folder = join(program, "dist/program")
    const names = readdirSync(folder).filter((name) => /\.[cm]js$/.test(name))
    const texts = names.map((name) => readFileSync(join(folder, name), "utf8"))
    const matches = (pattern: RegExp) =>
      new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, one = ""]) => one)))
    const threads = [...matches(/new URL\("\.\/(\w+\.mjs)", (?:import\.meta|process)/g)]
    expect(threads.toSorted()).toEqual([
      "ChangeThread.mjs",
      "LauncherMain.mjs",
      "MemberThread.mjs",
      "SqliteWriterThread.mjs",
      "SyntaxWorker.mjs"
    ])
    expect(threads.filter((name) => !names.includes(name))).toEqual([])
    const loaded = matches(
      /^(?:import .* from |import |.*\brequire\(|.*\bcreateRequire\)?\(.*\)(?:\.resolve)?\()"([^."][^"]*)"/gm
    )
    // Packages that others load only where they are installed.
    const optional = ["bufferutil", "pg-native", "supports-color", "utf-8-validate"]
    const outside = [...loaded].filter((name) => !name.startsWith("node:") && !builtinModules.includes(name))
    const { dependencies } = read(Manifest, join(root, "package.json"))
    expect(outside.toSorted()).toEqual([...Object.keys(dependencies), ...optional].toSorted())
  })

  it("explains what to do where neither a bundle nor packages for the sources are installed", async () => {
    rmSync(join(program, "dist/program"), { recursive: true })
    const failed = await run(join(program, "bin/aicr"), ["--version"]).catch((error: unknown) => error)
    expect(failed).toMatchObject({
      code: 3,
      stderr: `aicr: ${program} has no bundle of these sources, and what the sources need is not installed: run \`npm ci\` in it, or install a release archive\n`
    })
  })
})

it("production dependencies need 28 MB: 22 are grammars and their parser, 6 templates and the expressions of searches", () => {
  // It changes with a dependency, an added one being a package that cannot be part of the bundle (src/app/program/Bundle.mjs).
  const bytes = installed.reduce((sum, folder) => sum + sizeOf(join(root, folder)), 0)
  expect(Math.round(bytes / 1_048_576)).toBe(28)
})
