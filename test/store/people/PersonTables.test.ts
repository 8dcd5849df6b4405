import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layerMemory } from "../../../src/store/StoreLayer.ts"
import { personTables } from "../../../src/store/people/PersonTables.ts"

/** Texts in columns that can hold neither a name nor words of a person, apart from ids, values of lists, and names of repositories and branches. */
const otherTexts: Readonly<Record<string, string>> = {
  "agent_passes.body": "removed with its row",
  "admin_actions.address": "address of a client",
  "aicr_migrations.*": "the schema",
  "catalog_models.*": "a public catalog",
  "catalog_state.*": "a public catalog",
  "catch_ups.*": "searches of hosts",
  "catch_up_marks.*": "searches of hosts",
  "chat_actions.*": "ids of requests",
  "chat_health.*": "states of connections",
  "config_activations.*": "the configuration, which stays",
  "config_audit.*": "the configuration, which stays",
  "config_drafts.*": "the configuration, which stays",
  "config_operations.*": "the configuration, which stays",
  "config_reseals.*": "the configuration, which stays",
  "config_revisions.*": "the configuration, which stays",
  "configurations.*": "the configuration, which stays",
  "events.reason": "a value of a list",
  "finding_outcomes.dismissed_by": "a relation to the change",
  "finding_outcomes.merged_by": "a relation to the change",
  "finding_outcomes.evidence": "digests",
  "finding_outcomes.private": "a digest",
  "inventories.*": "checks of webhooks",
  "inventory_hooks.*": "checks of webhooks",
  "ledger_accounts.*": "renamed by the scan itself",
  "ledger_reservations.*": "renamed by the scan itself",
  "login_attempts.*": "digests, for minutes",
  "project_rules.owner": "content of a repository",
  "publications.reactions": "relations to the change",
  "run_logs.spans": "steps without texts",
  "events.search": "made from the other values",
  "runs.search": "made from the change",
  "saved_views.name": "removed with its row",
  "saved_views.query": "removed with its row"
}

/** Names of columns that are ids, keys, digests, values of lists, addresses or names of repositories and branches in every table. */
const plain =
  /^(?:.*id|.*key|digest|hash|config_hash|.*status|state|kind|.*_kind|event|action|decision|outcome|category|severity|verdict|provider|trigger_name|workspace|target_key|repo|repository|head|.*_head|base|base_ref|branch|path|channel|command|model|agent|project|scope|grain|subject|connection|conversation_kind|sender_type|fingerprint|anchor|code|later|settled|decided_in|found_in|rule|purpose|role|origin|scopes|repositories|url|posted|version|namespace|covers|stream|owner|team|.*_account|measure|page|node|name|app|day|pass|replay_of|admits)$/

layer(layerMemory)("columns that can hold a person", (it) => {
  it.effect("are declared, or known to hold nothing of a person", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = yield* sql<{ readonly table: string; readonly column: string; readonly type: string }>`
        SELECT m.name AS "table", c.name AS "column", c.type AS type FROM sqlite_master m, pragma_table_info(m.name) c
        WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`
      const declared = new Set(
        personTables.flatMap(({ columns: erased, table }) => Object.keys(erased).map((column) => `${table}.${column}`))
      )
      const unknown = columns.flatMap(({ column, table, type }) => {
        const name = `${table}.${column}`
        const isKnown = type !== "TEXT" || declared.has(name) || plain.test(column)
        return isKnown || otherTexts[name] !== undefined || otherTexts[`${table}.*`] !== undefined ? [] : [name]
      })
      expect(unknown).toEqual([])
      const existing = new Set(columns.map(({ column, table }) => `${table}.${column}`))
      expect([...declared].filter((name) => !existing.has(name))).toEqual([])
    })
  )
})
