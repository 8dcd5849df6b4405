/**
 * Bundles the program into `dist/program`, unless its sources are unchanged: a start that loads two thousand modules takes twice the processor time
 * of one that loads a few hundred, and an installation of the bundle needs a quarter of the packages. `npm ci` runs it as `prepare`, `npm pack` as
 * `prepack`. `--warm`: keeps compiled code, too. Plain JavaScript, because an installation without development dependencies may run it with an older Node.
 */
import { execFile } from "node:child_process"
import { existsSync, readFileSync, statSync } from "node:fs"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { promisify } from "node:util"
import { bundleProgram, loadBundler, root } from "./Bundle.mjs"
import { findProgram } from "./FindProgram.mjs"

const target = join(root, "dist/program")

/** Size and time of change of a file, in whole seconds, which is what layers of images keep. */
const describeFile = (file) => {
  const { mtimeMs, size } = statSync(file)
  return [relative(root, file), size, Math.floor(mtimeMs / 1000)]
}

const folderOfPackage = (module) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(module)?.[0]

/** Returns the packages in each file of the bundle. */
const listPackages = (chunks) => {
  const folders = (modules) => [...new Set(modules.map(folderOfPackage))].filter((folder) => folder !== undefined)
  const name = (folder) => folder.slice(folder.lastIndexOf("/node_modules/") + "/node_modules/".length)
  return Object.fromEntries(
    chunks.map(({ fileName, moduleIds }) => [fileName, folders(moduleIds).map(name).toSorted()])
  )
}

const licenseNames = ["LICENSE", "LICENSE.md", "LICENSE.txt", "LICENCE", "license"]

/** Returns the licenses of the packages in the bundle, which require that copies contain them. */
const listLicenses = (modules) => {
  const folders = new Set(modules.map(folderOfPackage).filter((folder) => folder !== undefined))
  const texts = [...folders].toSorted().map((folder) => {
    const { license, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
    const file = licenseNames.map((one) => join(folder, one)).find(existsSync)
    return `${name} ${version} (${license})\n\n${file === undefined ? "" : readFileSync(file, "utf8").trim()}\n`
  })
  return texts.join(`\n${"-".repeat(80)}\n\n`)
}

/** Replaces the bundle. At no time is there one without its list of sources. */
const install = async (folder) => {
  const former = `${folder}.former`
  if (existsSync(target)) await rename(target, former)
  await rename(folder, target)
  await rm(former, { recursive: true, force: true })
}

/** Runs a review once, so that the code of its functions is kept (LoadBundle.mjs). Without it, the first start is slower, and keeps what it ran. */
const warmUp = () =>
  promisify(execFile)(join(root, "bin/aicr"), ["demo", "--once", "--json"], {
    env: { ...process.env, SVC_LOG_LEVEL: "error" },
    timeout: 60_000
  }).catch(() => {})

const build = async () => {
  if (findProgram(root).isBundled) return "the program is up to date"
  const bundler = await loadBundler()
  if (bundler === undefined)
    return "the program is not bundled: the bundler is a development dependency, which is not installed"
  const started = performance.now()
  const folder = `${target}.${process.pid}`
  await mkdir(folder, { recursive: true })
  try {
    const chunks = await bundleProgram(bundler, folder, { main: join(root, "src/app/Commands.ts") })
    const modules = [...new Set(chunks.flatMap(({ moduleIds }) => moduleIds))]
    const tools = ["Build.mjs", "Bundle.mjs", "LoadBundle.mjs"].map((name) => join(import.meta.dirname, name))
    const own = modules.filter((id) => id.startsWith(root) && !id.includes("/node_modules/"))
    const sources = [join(root, "package-lock.json"), ...tools, ...own.toSorted()].filter(existsSync)
    await writeFile(join(folder, "sources.json"), JSON.stringify({ root, files: sources.map(describeFile) }))
    await writeFile(join(folder, "packages.json"), JSON.stringify(listPackages(chunks)))
    await writeFile(join(folder, "licenses.txt"), listLicenses(modules))
    await install(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  if (process.argv.includes("--warm")) await warmUp()
  return `the program was bundled in ${Math.round(performance.now() - started)} ms`
}

// During an installation a failure must not prevent the use of everything else: without the bundle, the sources run.
const optional = process.argv.includes("--optional")
try {
  process.stdout.write(`${await build()}\n`)
} catch (error) {
  process.stderr.write(`the program could not be bundled: ${error?.message ?? error}\n`)
  if (!optional) process.exitCode = 1
}
