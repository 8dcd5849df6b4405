/** The command `aicr memory`, while another process has the records open. */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { expect, it } from "vitest"
import { stringify } from "yaml"
import { Lessons } from "../../src/store/Lessons.ts"
import * as Store from "../../src/store/StoreLayer.ts"
import { runAicr } from "../harness/RunAicr.ts"

const aicr = (config: string, ...args: ReadonlyArray<string>) => runAicr(["memory", ...args, "--config", config])

const lesson = (n: number) => ({
  fingerprint: String(n).padStart(32, "0"),
  verdict: "dismissed" as const,
  category: "security",
  severity: "high" as const,
  path: "src/a.ts",
  title: `Title ${n}\u001b[31m`,
  quote: "run()"
})
const wide = { maxEntries: 100, maxBytes: 100_000, keepMillis: 1e12 }

it("lists and removes lessons, per repository or all", async () => {
  const directory = await mkdtemp(join(tmpdir(), "aicr-cli-memory-"))
  try {
    const config = join(directory, "config.yaml")
    await writeFile(
      config,
      stringify({
        triggers: [{ name: "main", kind: "gitea", base_url: "https://git.test", webhook_secret_env: "NOT_SET_HERE" }],
        workspaces: { instances: { app: { source_repo: { trigger: "main", repo: "acme/app" } } } },
        storage: { database: { sqlite: { path: "aicr.db" } } }
      })
    )
    const none = await aicr(config, "show")
    expect([none.code, none.err]).toEqual([3, expect.stringContaining("no records yet")])

    await Effect.gen(function* () {
      const lessons = yield* Lessons
      for (const name of ["main:acme/app", "main:acme/other"]) {
        yield* lessons.learn(name, [lesson(1), lesson(2)], wide, Date.now() - 3 * 86_400_000)
      }
      const shown = yield* Effect.promise(() => aicr(config, "show"))
      expect(shown.out.split("\n").slice(0, 2)).toEqual([
        "main:acme/app  2 lessons, 66 bytes",
        "  dismissed  high     security  src/a.ts: Title 1 [31m (3 days ago)"
      ])
      const json = yield* Effect.promise(() => aicr(config, "show", "--json", "--repository", "main:acme/other"))
      expect(JSON.parse(json.out)).toMatchObject({
        repositories: [{ repository: "main:acme/other", entries: 2, lessons: [{ verdict: "dismissed" }, {}] }]
      })
      const unknown = yield* Effect.promise(() => aicr(config, "clear", "--repository", "main:acme/nowhere"))
      expect([unknown.code, unknown.err]).toEqual([
        2,
        expect.stringContaining("Repositories with lessons: main:acme/app, main:acme/other")
      ])
      expect((yield* Effect.promise(() => aicr(config, "clear"))).code).toBe(2)

      const cleared = yield* Effect.promise(() => aicr(config, "clear", "--repository", "main:acme/app"))
      expect([cleared.code, cleared.out]).toEqual([0, "2 lessons removed.\n"])
      expect((yield* lessons.sizes).map(({ repository }) => repository)).toEqual(["main:acme/other"])
      yield* Effect.promise(() => aicr(config, "clear", "--all"))
      expect(yield* lessons.sizes).toEqual([])
      expect((yield* Effect.promise(() => aicr(config, "show"))).out).toBe("No lessons are stored.\n")
    }).pipe(Effect.provide(Store.layerSqlite({ path: join(directory, "aicr.db"), migrate: "auto" })), Effect.runPromise)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}, 60_000)
