/** Edits of processes that are killed. */
import type { PublishRequest } from "../../../src/config/revisions/ConfigEditor.ts"

export const literal = "hook-secret-0815"
const second = { kind: "triggers", name: "second" } as const
const value = { kind: "gitea", base_url: "https://second.example", webhook_secret: literal }

export const edits = {
  first: { base: 0, operationId: "first", operations: [{ op: "create", entity: second, value }] },
  third: {
    base: 2,
    operationId: "third",
    operations: [{ op: "create", entity: { kind: "triggers", name: "third" }, value }]
  },
  second: { base: 1, operationId: "second", operations: [{ op: "set_enabled", entity: second, enabled: false }] }
} satisfies Record<string, PublishRequest>
