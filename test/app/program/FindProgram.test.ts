/** A start runs the bundle, and the sources where these are newer. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { appendFile, cp, readFile, symlink, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { describe, expect, it } from "vitest"
import { findProgram } from "../../../src/app/program/FindProgram.ts"
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
    expect(findProgram(root)).toBe(url(root, "dist/program/main.mjs"))
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
    expect(findProgram(installed.root)).toBe(url(installed.root, "src/app/Commands.ts"))
  })
})

/** Files that the stages of the Dockerfile copy from the repository, and the commands of the first stage that build something. */
const readImage = async () => {
  const stages = (await readFile(join(program, "Dockerfile"), "utf8")).split(/^FROM .*$/m).slice(1)
  const copied = (stage = "") =>
    [...stage.matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = ""]) => names.split(" "))
  const builds = [...(stages[0] ?? "").matchAll(/^RUN (node .*)$/gm)].map(([, command = ""]) => command)
  return { build: copied(stages[0]), image: copied(stages.at(-1)), builds }
}

it("the files of the Docker image suffice to build the dashboard and the program, and to run the bundle", async () => {
  const { build, builds, image } = await readImage()
  const root = temporaryFolder()
  const install = (names: ReadonlyArray<string>) =>
    Promise.all(
      names.map((name) => cp(join(program, name), join(root, name), { recursive: true, preserveTimestamps: true }))
    )
  await install(build)
  await symlink(join(program, "node_modules"), join(root, "node_modules"))
  const PATH = `${join(program, "node_modules/.bin")}:${process.env["PATH"]}`
  expect(builds).toHaveLength(1)
  await promisify(execFile)("sh", ["-c", builds.join("\n")], { cwd: root, env: { ...process.env, PATH } })
  for (const name of build) rmSync(join(root, name), { recursive: true })
  await install(image)
  expect(findProgram(root)).toBe(pathToFileURL(join(root, "dist/program/main.mjs")).href)
  expect(existsSync(join(root, "dist/dashboard/index.html"))).toBe(true)
}, 120_000)

it("Build.mjs makes a bundle that loads a fifth of the modules at most, and that is left once a source changes", async () => {
  const root = temporaryFolder()
  for (const name of ["actors", "nats", "src", "package.json", "package-lock.json"])
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
     registerHooks({ load(url, context, next) {
       if (!url.startsWith("node:")) appendFileSync(${JSON.stringify(counted)}, url + "\\n")
       return next(url, context)
     } })`
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
  expect(bundled.modules.length * 5).toBeLessThan(sources.modules.length)
  expect(sources.modules).toContain(pathToFileURL(main).href)
})
