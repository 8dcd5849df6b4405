/**
 * The dashboard: size of the code of its first page, first content in a browser, the slowest list with 1 000 000 runs and 100 000 deliveries on SQLite
 * and Postgres, and the live events that a page takes in.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { measureBrowser } from "./dashboard/MeasureBrowser.ts"
import { measureLists } from "./dashboard/MeasureLists.ts"
import type { Benchmark } from "./main.ts"

const built = join(import.meta.dirname, "../../dist/dashboard")

/** The service builds the dashboard when it starts, so this is read after it ran. */
const mainSize = (): number => {
  const html = readFileSync(join(built, "index.html"), "utf8")
  const files = [...html.matchAll(/(?:src|href)="[^"]*\/(assets\/[^"]+\.js)"/g)].map(([, file]) => file ?? "")
  return files.reduce((sum, file) => sum + gzipSync(readFileSync(join(built, file)), { level: 9 }).length, 0) / 1024
}

export const dashboard: Benchmark = {
  name: "dashboard",
  summary: "first content, slowest list with 1,000,000 runs and 100,000 deliveries, live events per second",
  run: async () => {
    const browser = await measureBrowser()
    const lists = await measureLists({ runs: 1_000_000, deliveries: 100_000 })
    return { main_gzip_kb: mainSize(), ...browser, ...lists }
  }
}
