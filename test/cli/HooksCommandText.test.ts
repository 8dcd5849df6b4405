/** `aicr hooks print` fills the lines in from the configuration. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { listServers, perforceHooks, subversionHooks } from "../../src/cli/HooksCommand.ts"
import { toSnapshot } from "../../src/config/LoadConfig.ts"

const document = (over: Readonly<Record<string, unknown>> = {}) => ({
  server: { base_url: "https://aicr.example/", path_prefix: "/review" },
  triggers: [
    { name: "game", kind: "perforce", depot_path: "//game/main art/..." },
    { name: "tools", kind: "perforce", depot_path: "//tools" },
    { name: "off", kind: "perforce", depot_path: "//off/...", enabled: false },
    { name: "tree", kind: "subversion", repository_url: "https://svn.example/web" }
  ],
  ...over
})
const printing = (over: Readonly<Record<string, unknown>>, kind: "perforce" | "subversion", folder = "/opt/hooks") =>
  Effect.map(toSnapshot(document(over), {}), (snapshot) => {
    const [trigger] = listServers(snapshot, kind)
    if (trigger === undefined) throw new Error("no trigger")
    return { perforce: perforceHooks, subversion: subversionHooks }[kind](snapshot, { trigger, folder })
  })

describe("hooks", () => {
  it.effect("of Perforce have a line per depot path and event, and the address of the service", () =>
    Effect.gen(function* () {
      const lines = yield* printing({}, "perforce")
      assert.deepStrictEqual(lines.slice(1, 4), [
        "AICR_URL=https://aicr.example/review",
        "AICR_API_KEY_FILE=/etc/aicr/api-key",
        "AICR_TRIGGER=game"
      ])
      assert.deepStrictEqual(lines.slice(6), [
        '\taicr-submit-1 change-commit "//game/main art/..." "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//game/main art/...%quote% %oldchange%"',
        '\taicr-shelve-1 shelve-commit "//game/main art/..." "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//game/main art/...%quote%"',
        '\taicr-delete-1 shelve-delete "//game/main art/..." "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//game/main art/...%quote% deleted"',
        '\taicr-submit-2 change-commit //tools/... "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//tools/...%quote% %oldchange%"',
        '\taicr-shelve-2 shelve-commit //tools/... "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//tools/...%quote%"',
        '\taicr-delete-2 shelve-delete //tools/... "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//tools/...%quote% deleted"'
      ])
    })
  )
  it.effect("of a trigger without a depot path are of the whole server", () =>
    Effect.gen(function* () {
      const triggers = [{ name: "all", kind: "perforce" }]
      const lines = yield* printing({ triggers, server: { port: 9000 } }, "perforce")
      assert.include(lines[6] ?? "", "aicr-submit change-commit //... ")
      assert.strictEqual(lines[1], "AICR_URL=http://HOST_OF_AICR:9000")
    })
  )
  it.effect("are of one server of Perforce", () =>
    Effect.gen(function* () {
      const triggers = [
        { name: "a", kind: "perforce", port: "one:1666", depot_path: "//a/..." },
        { name: "b", kind: "perforce", port: "two:1666", depot_path: "//b/..." },
        { name: "c", kind: "perforce", port: "one:1666", depot_path: "//c/..." }
      ]
      const lines = yield* printing({ triggers }, "perforce")
      assert.deepStrictEqual(
        lines.filter((line) => line.includes("change-commit")).map((line) => line.trim().split(" ")[2]),
        ["//a/...", "//c/..."]
      )
      assert.include(lines, "AICR_TRIGGER=a")
      const snapshot = yield* toSnapshot(document({ triggers }), {})
      assert.deepStrictEqual(
        listServers(snapshot, "perforce").map(({ name }) => name),
        ["a", "b"]
      )
    })
  )
  it.effect("of Subversion are a whole post-commit script", () =>
    Effect.gen(function* () {
      const lines = yield* printing({}, "subversion", "/srv/the hooks")
      assert.strictEqual(lines[0], "#!/bin/sh")
      assert.include(lines[1] ?? "", "https://svn.example/web")
      assert.include(lines, "#   AICR_URL=https://aicr.example/review")
      assert.deepStrictEqual(lines.slice(-3), [
        "AICR_TRIGGER=tree",
        "export AICR_TRIGGER",
        `exec '/srv/the hooks/svn-trigger.sh' "$1" "$2"`
      ])
    })
  )
})
