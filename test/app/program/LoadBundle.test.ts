/** The bundle of a program keeps the code of the functions that have run, and the next start uses it. */
import { execFile } from "node:child_process"
import { chmodSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { expect, it } from "vitest"
import { temporaryFolder } from "../../vcs/Repository.ts"

const root = join(import.meta.dirname, "../../..")
const loader = pathToFileURL(join(root, "src/app/program/LoadBundle.mjs")).href

/** Long enough that its code is much larger than that of the script around it. */
const body = Array.from({ length: 300 }, (_, at) => `sum += Math.sqrt(sum + ${at})`).join("\n")

/** The form of the scripts of a bundle. */
const asFunction = (code: string): string => `(function (exports, require) {${code}})`

const killWhenKept = `
     import { globSync } from "node:fs"
     while (globSync(import.meta.dirname + "/code/*/part.cjs").length === 0) await new Promise((resolve) => setTimeout(resolve, 50))
     process.kill(process.pid, "SIGKILL")`

/** The program prints which scripts V8 got code for, and accepted it. */
const install = async (isKilled = false) => {
  const folder = join(temporaryFolder(), "program")
  await mkdir(folder)
  writeFileSync(join(folder, "main.cjs"), asFunction(`exports.main = () => require("./part.cjs").add(1)\n`))
  writeFileSync(join(folder, "part.cjs"), asFunction(`exports.add = (sum) => {\n${body}\nreturn sum\n}\n`))
  const program = join(folder, "main.mjs")
  writeFileSync(
    program,
    `import v8 from "node:v8"
     import vm from "node:vm"
     const used = []
     vm.Script = class extends vm.Script {
       constructor(text, options) {
         super(text, options)
         used.push(options.cachedData === undefined ? "none" : this.cachedDataRejected ? "refused" : "used")
       }
     }
     const { loadBundle } = await import(${JSON.stringify(loader)})
     const { main } = loadBundle(import.meta.dirname, "main.cjs")
     main()
     console.log(used.join())
     ${isKilled ? killWhenKept : ""}`
  )
  const run = async (...flags: ReadonlyArray<string>) => {
    const args = ["--disable-warning=ExperimentalWarning", ...flags, program]
    const ended = promisify(execFile)(join(root, "node_modules/.bin/node"), args, {
      env: { PATH: process.env["PATH"] }
    })
    const { stdout } = await ended.catch((error: unknown) => ({ stdout: String(Object(error).stdout) }))
    return stdout.trim()
  }
  const codeFolder = () => {
    const [version = ""] = readdirSync(join(folder, "code"))
    return join(folder, "code", version)
  }
  return { folder, run, codeFolder }
}

it("a start uses the code of an earlier process, with the functions that it called, and leaves it", async () => {
  const { codeFolder, run } = await install()
  expect(await run()).toBe("none,none")
  const kept = () => readdirSync(codeFolder()).map((name) => [name, statSync(join(codeFolder(), name)).mtimeMs])
  const before = kept()
  expect(before.map(([name]) => name)).toEqual(["main.cjs", "part.cjs"])
  // Its only function: 300 statements of more than ten bytes each.
  expect(statSync(join(codeFolder(), "part.cjs")).size).toBeGreaterThan(3_000)
  expect(await run()).toBe("used,used")
  expect(kept()).toEqual(before)
})

it("uses the code also under the flags of `npm start`, under which V8 refuses code of other processes", async () => {
  const { run } = await install()
  await run("--max-semi-space-size=16")
  expect(await run()).toBe("used,used")
  expect(await run("--max-semi-space-size=16", "--no-maglev")).toBe("none,none")
})

it("keeps the code of a process that is killed later", async () => {
  const { run } = await install(true)
  expect(await run()).toBe("none,none")
  expect(await run()).toBe("used,used")
})

it("compiles again what was changed, cut off or damaged", async () => {
  const { codeFolder, folder, run } = await install()
  await run()
  const part = join(folder, "part.cjs")
  // Of the same length, which is all that V8 compares.
  writeFileSync(part, readFileSync(part, "utf8").replace("sum + 1)", "sum * 1)"))
  expect(await run()).toBe("used,none")
  expect(await run()).toBe("used,used")
  const code = join(codeFolder(), "part.cjs")
  const bytes = readFileSync(code)
  bytes[bytes.length - 20] = (bytes.at(-20) ?? 0) ^ 1
  writeFileSync(code, bytes)
  expect(await run()).toBe("used,none")
  truncateSync(code, 5)
  expect(await run()).toBe("used,none")
  expect(await run()).toBe("used,used")
})

it("runs where nothing may be written", async () => {
  const { folder, run } = await install()
  // A file in place of the folder also stops root.
  writeFileSync(join(folder, "code"), "")
  chmodSync(folder, 0o500)
  expect(await run()).toBe("none,none")
  expect(await run()).toBe("none,none")
})
