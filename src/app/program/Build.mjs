/**
 * Bundles the program into `dist/program`, because a start that loads two thousand modules takes twice the processor time of one that loads
 * a few hundred. `npm ci` runs it as `prepare`, Docker in its first stage. FindProgram.ts uses the bundle only while the sources are those
 * that it was made from. Plain JavaScript, because an installation without development dependencies may run it with an older Node.
 */
import { existsSync, statSync } from "node:fs"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { dirname, join, relative } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const root = join(dirname(fileURLToPath(import.meta.url)), "../../..")
const target = join(root, "dist/program")

/** Packages of many small modules. Others are loaded from their own files, as they expect. */
const inlined = ["effect", "@effect/platform-node", "@effect/platform-node-shared", "undici", "uuid", "yaml"]

const isInlined = (name) => inlined.some((one) => name === one || name.startsWith(`${one}/`))

/** Entry of the threads that analyse changes, which are started while reviews wait: a bundle of its own, without what only the service uses. */
const thread = "ChangeThread"

/** A module in the bundle still finds the files in the folder of its source, except for the bundled thread. */
const keepPlaces = {
  name: "keep-places",
  transform: (code, id) => {
    if (id.includes("/node_modules/") || !code.includes("import.meta.")) return
    return code
      .replaceAll(`new URL("./${thread}.js", import.meta.url)`, `new URL("./${thread}.mjs", import.meta["url"])`)
      .replaceAll("import.meta.dirname", JSON.stringify(dirname(id)))
      .replaceAll("import.meta.filename", JSON.stringify(id))
      .replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href))
  }
}

/** Returns the bundler, or undefined if development dependencies are not installed. */
const loadBundler = async () => {
  try {
    return await import("rolldown")
  } catch (error) {
    if (error?.code === "ERR_MODULE_NOT_FOUND") return undefined
    throw error
  }
}

const bundle = async ({ rolldown }, dir, input) => {
  const made = await rolldown({
    cwd: root,
    input,
    platform: "node",
    logLevel: "silent",
    external: (name) => !name.startsWith(".") && !name.startsWith("/") && !isInlined(name),
    plugins: [keepPlaces]
  })
  const { output } = await made.write({
    dir,
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "[name]-[hash].mjs"
  })
  await made.close()
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []))
}

/** Size and time of change of a file, in whole seconds, which is what layers of images keep. */
const describeFile = (file) => {
  const { mtimeMs, size } = statSync(file)
  return [relative(root, file), size, Math.floor(mtimeMs / 1000)]
}

const build = async () => {
  const bundler = await loadBundler()
  if (bundler === undefined)
    return "the program is not bundled: the bundler is a development dependency, which is not installed"
  const started = performance.now()
  const folder = `${target}.${process.pid}`
  await mkdir(folder, { recursive: true })
  try {
    const modules = [
      ...(await bundle(bundler, folder, { main: join(root, "src/app/Commands.ts") })),
      ...(await bundle(bundler, folder, { [thread]: join(root, `src/engine/threads/${thread}.js`) }))
    ]
    const own = [...new Set(modules)].filter((id) => id.startsWith(root) && !id.includes("/node_modules/"))
    const files = [join(root, "package-lock.json"), ...own.toSorted()].filter(existsSync).map(describeFile)
    await writeFile(join(folder, "sources.json"), JSON.stringify({ root, files }))
    await rm(target, { recursive: true, force: true })
    await rename(folder, target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
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
