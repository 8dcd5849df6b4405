/** `aicr hooks print` fills the lines in from the configuration. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { perforceHooks, subversionHooks } from "../../src/cli/HookText.ts"
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
const places = { folder: "/opt/hooks" }

describe("hooks", () => {
  it.effect("of Perforce have a line per depot path and event, and the address of the service", () =>
    Effect.gen(function* () {
      const lines = perforceHooks(yield* toSnapshot(document(), {}), places)
      assert.deepStrictEqual(lines.slice(1, 3), [
        "AICR_URL=https://aicr.example/review",
        "AICR_API_KEY_FILE=/etc/aicr/api-key"
      ])
      assert.deepStrictEqual(lines.slice(5), [
        '\taicr-submit-1 change-commit "//game/main art/..." "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//game/main art/...%quote% %oldchange%"',
        '\taicr-shelve-1 shelve-commit "//game/main art/..." "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//game/main art/...%quote%"',
        '\taicr-submit-2 change-commit //tools/... "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//tools/...%quote% %oldchange%"',
        '\taicr-shelve-2 shelve-commit //tools/... "/opt/hooks/p4-trigger.sh %change% %user% %client% %quote%//tools/...%quote%"'
      ])
    })
  )
  it.effect("of a trigger without a depot path are of the whole server", () =>
    Effect.gen(function* () {
      const triggers = [{ name: "all", kind: "perforce" }]
      const lines = perforceHooks(yield* toSnapshot(document({ triggers, server: { port: 9000 } }), {}), places)
      assert.include(lines[5] ?? "", "aicr-submit change-commit //... ")
      assert.strictEqual(lines[1], "AICR_URL=http://HOST_OF_AICR:9000")
    })
  )
  it.effect("of Subversion are a post-commit script", () =>
    Effect.gen(function* () {
      const lines = subversionHooks(yield* toSnapshot(document(), {}), { folder: "/srv/the hooks" })
      assert.include(lines, "#   https://svn.example/web")
      assert.deepStrictEqual(lines.slice(-2), ["#!/bin/sh", `exec '/srv/the hooks/svn-trigger.sh' "$1" "$2"`])
    })
  )
})
