/**
 * Bundles the program into `dist/program`, because a start that loads two thousand modules takes twice the processor time of one that loads
 * a few hundred. `npm ci` runs it as `prepare`, Docker in its first stage. FindProgram.ts uses the bundle only while the sources are those
 * that it was made from. Plain JavaScript, because an installation without development dependencies may run it with an older Node.
 */
import { existsSync, statSync } from "node:fs"
import { mkdir, rename, rm, writeFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { bundle, loadBundler, root, thread } from "./Bundle.mjs"

const target = join(root, "dist/program")

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
