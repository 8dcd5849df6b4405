/**
 * The dashboard: size of the code of its first page, first content in a browser, the slowest list with 1 000 000 runs and 100 000 deliveries on SQLite
 * and Postgres, and the live events that a page takes in.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { parse, stringify } from "yaml"
import { adminEnv } from "../harness/AdminSession.ts"
import { Installation } from "../harness/Installation.ts"
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

/** Retention would remove most of the runs. */
const keepAll = (at: Installation): void => {
  const file = join(at.directory, "config.yaml")
  const document = parse(readFileSync(file, "utf8"))
  const keep = { max_count: 1_000_000, max_age_months: 1200 }
  document.storage = { ...document.storage, retention: { recent_runs: keep, events: keep } }
  writeFileSync(file, stringify(document))
}

export const dashboard: Benchmark = {
  name: "dashboard",
  summary:
    "first content, slowest list with 1,000,000 runs and 100,000 deliveries, frames per second while it is scrolled, live events per second",
  run: async () => {
    await using at = await Installation.make({ queue: "sqlite", env: adminEnv })
    keepAll(at)
    const lists = await measureLists({ runs: 1_000_000, deliveries: 100_000 }, join(at.directory, "aicr.db"))
    const browser = await measureBrowser(at)
    return { main_gzip_kb: mainSize(), ...browser, ...lists }
  }
}
