/** A start runs the bundle, and the sources where these are newer. */
import { execFile } from "node:child_process"
import { mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { appendFile, cp, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { findProgram } from "../../../src/app/program/FindProgram.mjs"
import { temporaryFolder } from "../../vcs/Repository.ts"

const program = join(import.meta.dirname, "../../..")

describe("a program", () => {
  /** An installation of one source, whose bundle is current. */
  const install = () => {
    const root = temporaryFolder()
    const source = join(root, "Commands.ts")
    writeFileSync(source, "export const main = 1\n")
    mkdirSync(join(root, "dist/program"), { recursive: true })
    const { mtimeMs, size } = statSync(source)
    const record = (sources: unknown) => writeFileSync(join(root, "dist/program/sources.json"), JSON.stringify(sources))
    const sources = { root, files: [["Commands.ts", size, Math.floor(mtimeMs / 1000)]] }
    record(sources)
    return { root, source, sources, record }
  }
  const url = (root: string, path: string) => pathToFileURL(join(root, path)).href

  it("is the bundle while the sources are those that it was made from", () => {
    const { root } = install()
    expect(findProgram(root)).toEqual({ isBundled: true, url: url(root, "dist/program/main.mjs") })
  })

  it("is the bundle in a release archive, which has no list of sources", () => {
    const { root } = install()
    rmSync(join(root, "dist/program/sources.json"))
    expect(findProgram(root).isBundled).toBe(false)
    writeFileSync(join(root, "dist/program/main.mjs"), "")
    expect(findProgram(root).isBundled).toBe(true)
  })

  type Installed = ReturnType<typeof install>
  const changes: ReadonlyArray<readonly [string, (installed: Installed) => void]> = [
    ["a source has another size", ({ source }) => writeFileSync(source, "export const main = 22\n")],
    ["a source was changed later", ({ source }) => utimesSync(source, Date.now() / 1000 + 10, Date.now() / 1000 + 10)],
    ["a source is gone", ({ source }) => rmSync(source)],
    ["the installation was copied to another folder", ({ record, sources }) => record({ ...sources, root: "/other" })],
    ["the list is cut off", ({ root }) => writeFileSync(join(root, "dist/program/sources.json"), '{"root":')],
    ["there is no bundle", ({ root }) => rmSync(join(root, "dist"), { recursive: true })]
  ]
  it.each(changes)("is the sources where %s", (_, change) => {
    const installed = install()
    change(installed)
    expect(findProgram(installed.root)).toEqual({ isBundled: false, url: url(installed.root, "src/app/Commands.ts") })
  })
})

it("Build.mjs makes a bundle that loads a fifth of the modules at most, and that is left once a source changes", async () => {
  const root = temporaryFolder()
  for (const name of ["actors", "demo", "eval", "nats", "src", "package.json", "package-lock.json"])
    await cp(join(program, name), join(root, name), { recursive: true })
  await symlink(join(program, "node_modules"), join(root, "node_modules"))
  const node = join(program, "node_modules/.bin/node")
  const run = promisify(execFile)
  const { stdout } = await run(node, [join(root, "src/app/program/Build.mjs")], { cwd: "/" })
  expect(stdout).toMatch(/^the program was bundled in \d+ ms\n$/)

  const counted = join(root, "modules")
  const preload = `data:text/javascript,${encodeURIComponent(
    `import { appendFileSync } from "node:fs"
     import { registerHooks } from "node:module"
     import vm from "node:vm"
     const count = (module) => appendFileSync(${JSON.stringify(counted)}, module + "\\n")
     registerHooks({ load(url, context, next) {
       if (!url.startsWith("node:")) count(url)
       return next(url, context)
     } })
     vm.Script = class extends vm.Script {
       constructor(text, options) {
         super(text, options)
         count(options.filename)
       }
     }`
  )}`
  const start = async () => {
    await writeFile(counted, "")
    const args = [
      "--disable-warning=ExperimentalWarning",
      `--import=${preload}`,
      join(root, "src/main.mjs"),
      "--version"
    ]
    const { stdout: version } = await run(node, args, { cwd: "/" })
    return { version, modules: (await readFile(counted, "utf8")).trim().split("\n") }
  }
  const bundled = await start()
  const main = join(root, "src/app/Commands.ts")
  await appendFile(main, "// Changed.\n")
  const sources = await start()
  expect(bundled.version).toMatch(/\d+\.\d+\.\d+/)
  expect(sources.version).toBe(bundled.version)
  expect(bundled.modules.filter((name) => name.endsWith(".cjs"))).not.toEqual([])
  expect(bundled.modules.length * 5).toBeLessThan(sources.modules.length)
  expect(sources.modules).toContain(pathToFileURL(main).href)
})
