/**
 * Builds the dashboard into `dist/dashboard`: hashed names, compressed copies of every asset, and `sources` with the digest of what it was built
 * from. `npm ci` runs it as `prepare`, Docker in its first stage, and the service when the files are missing or older than the sources. Plain
 * JavaScript, because an installation without development dependencies may run it with an older Node.
 */
import { createHash } from "node:crypto"
import { existsSync } from "node:fs"
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { documents, renderDocuments } from "./Documents.mjs"

const sources = dirname(fileURLToPath(import.meta.url))
const root = join(sources, "../..")
/** Folders whose code and texts the pages use. */
const used = [...["src/text", "src/domain"].map((folder) => join(root, folder)), documents]
const target = join(root, "dist/dashboard")

const listFiles = async (folder) =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

/** Returns the digest of the sources, with what they use, and of the versions of packages. */
const digestSources = async () => {
  const hash = createHash("sha256")
  const files = (await Promise.all([sources, ...used].map(listFiles))).flat()
  for (const file of [...files.toSorted(), join(root, "package.json")]) hash.update(await readFile(file))
  return hash.digest("hex")
}

const isCurrent = async (digest) => {
  try {
    return (await readFile(join(target, "sources"), "utf8")) === digest
  } catch {
    return false
  }
}

// A test that starts the service must not get the development build of React.
process.env.NODE_ENV = "production"

/** Returns Vite, or undefined if development dependencies are not installed. */
const loadVite = async () => {
  try {
    return await import("vite")
  } catch (error) {
    if (error?.code === "ERR_MODULE_NOT_FOUND") return undefined
    throw error
  }
}

const bundle = (vite, outDir) =>
  vite.build({
    configFile: false,
    mode: "production",
    root: sources,
    base: "./",
    logLevel: "error",
    oxc: { jsx: { runtime: "automatic", importSource: "#dashboard" } },
    build: {
      outDir,
      emptyOutDir: true,
      assetsDir: "assets",
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1000,
      target: ["chrome123", "firefox120", "safari17.5"],
      cssTarget: ["chrome123", "firefox120", "safari17.5"]
    }
  })

const compress = async (folder) => {
  await Promise.all(
    (await listFiles(folder)).map(async (file) => {
      // Pictures are compressed already.
      if (file.endsWith(".png")) return
      const bytes = await readFile(file)
      const params = { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
      await writeFile(`${file}.br`, await promisify(brotliCompress)(bytes, { params }))
      await writeFile(`${file}.gz`, await promisify(gzip)(bytes, { level: 9 }))
    })
  )
}

/** Replaces the folder. Of several builds at the same time one remains; all have the same content. */
const install = async (built) => {
  const old = `${built}.old`
  if (existsSync(target)) await rename(target, old).catch(() => {})
  await rename(built, target).catch((error) => {
    if (!existsSync(target)) throw error
  })
  await Promise.all([old, built].map((folder) => rm(folder, { recursive: true, force: true })))
}

const build = async () => {
  if (!existsSync(join(sources, "index.html")))
    return "the dashboard is not built: its sources are not part of this installation"
  const digest = await digestSources()
  if (await isCurrent(digest)) return "the dashboard is up to date"
  const vite = await loadVite()
  if (vite === undefined)
    return "the dashboard is not built: its tools are development dependencies, which are not installed"
  const started = performance.now()
  await mkdir(dirname(target), { recursive: true })
  const folder = `${target}.${process.pid}`
  try {
    await bundle(vite, folder)
    await renderDocuments(join(folder, "docs"))
    for (const part of ["assets", "docs"]) await compress(join(folder, part))
    await writeFile(join(folder, "sources"), digest)
    await install(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return `the dashboard was built in ${Math.round(performance.now() - started)} ms`
}

// During an installation a failure must not prevent the use of everything else; the page of the dashboard names the command.
const optional = process.argv.includes("--optional")
try {
  process.stdout.write(`${await build()}\n`)
} catch (error) {
  process.stderr.write(`the dashboard could not be built: ${error?.message ?? error}\n`)
  if (!optional) process.exitCode = 1
}
