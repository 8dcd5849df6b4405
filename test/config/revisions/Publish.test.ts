import { describe, expect, it } from "@effect/vitest"
import { Redacted } from "effect"
import { normalise } from "../../../src/config/document/Normalise.ts"
import { isRecord } from "../../../src/config/document/Path.ts"
import { Document } from "../../../src/config/Document.ts"
import { readShape } from "../../../src/config/fields/Shape.ts"
import type { Decision } from "../../../src/config/revisions/Publish.ts"
import { decide } from "../../../src/config/revisions/Publish.ts"
import type { DatabaseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import { emptyDocument, entityIn, parseDocument } from "../../../src/config/revisions/DatabaseDocument.ts"
import type { ConfigOperation } from "../../../src/config/revisions/Operations.ts"
import { deserialise } from "../../../src/config/revisions/SealDocument.ts"
import { inEnglish } from "../../../src/text/en.ts"

const key = "11".repeat(32)

const fileTree = (source: unknown) => {
  const tree = normalise(readShape(Document), source, (complaint) => {
    throw new Error(inEnglish(complaint.reason))
  })
  return isRecord(tree) ? tree : {}
}

const source = {
  triggers: [{ name: "main", kind: "gitea", base_url: "https://git.example", webhook_secret: "a-secret" }],
  llm: {
    providers: [{ id: "p", kind: "openai_compatible", base_url: "https://llm.example/v1" }],
    model_chain: { default: [{ provider: "p", model: "m" }] }
  },
  review: { max_passes: 12 },
  config_sources: {
    secret_refs: [
      {
        env: "GIVEN_TOKEN",
        target: ["triggers", "second", "token_env"],
        destinations: { git: { kind: "gitea", endpoints: { base_url: "https://second.example" } } }
      },
      {
        env: "GIVEN_SECRET",
        target: ["triggers", "second", "webhook_secret_env"],
        destinations: { git: { kind: "gitea", endpoints: { base_url: "https://second.example" } } }
      }
    ]
  }
}
const file = fileTree(source)

const baseline = {
  file,
  env: { SVC_CONFIG_SECRETS_KEY: key, GIVEN_TOKEN: "t", GIVEN_SECRET: "s" },
  baseDir: "/tmp",
  namespace: "default"
}

const second = { kind: "triggers", name: "second" } as const
const secondValue = { kind: "gitea", base_url: "https://second.example", webhook_secret: "hook" }

const decideOn = (
  head: DatabaseDocument,
  operations: ReadonlyArray<ConfigOperation>,
  more: { readonly base?: DatabaseDocument; readonly strict?: boolean; readonly baseline?: typeof baseline } = {}
): Decision =>
  decide(
    {
      operations,
      base: { number: more.base === undefined ? 2 : 1, document: more.base ?? head },
      head: { number: 2, document: head },
      strict: more.strict ?? false
    },
    more.baseline ?? baseline
  )

const published = (decision: Decision): DatabaseDocument => {
  if (decision._tag !== "Publish") throw new Error(JSON.stringify(decision))
  return deserialise(decision.publishable.stored.text)
}

const codes = (decision: Decision) =>
  decision._tag === "Refused" ? decision.problems.map(({ code, entity, path }) => [code, entity, path]) : decision._tag

const withSecond = (): DatabaseDocument =>
  published(decideOn(emptyDocument, [{ op: "create", entity: second, value: secondValue }]))

const secretIn = (document: DatabaseDocument): unknown => {
  const value = entityIn(document, second)
  const secret = isRecord(value) ? value["webhook_secret"] : undefined
  return Redacted.isRedacted(secret) ? Redacted.value(secret) : secret
}

describe("a changeset becomes a revision", () => {
  it("seals literal credentials before anything is stored", () => {
    const decision = decideOn(emptyDocument, [{ op: "create", entity: second, value: secondValue }])
    expect(decision._tag === "Publish" ? decision.publishable.stored.text : "").not.toContain('"hook"')
    expect(secretIn(published(decision))).toMatch(/^enc:v1\./)
    expect(decision._tag === "Publish" ? decision.publishable.snapshot.triggers.has("second") : false).toBe(true)
  })

  it("keeps a credential that an update omits, and clears it for null", () => {
    const head = withSecond()
    const { webhook_secret: _, ...without } = secondValue
    const kept = decideOn(head, [{ op: "update", entity: second, value: { ...without, enabled: false } }])
    expect(secretIn(published(kept))).toBe(secretIn(head))
    const cleared = decideOn(head, [{ op: "update", entity: second, value: { ...without, webhook_secret: null } }])
    expect(secretIn(published(cleared))).toBeUndefined()
  })

  it("states which credentials are set, renamed and sent elsewhere, and to whom, without their texts", () => {
    const credentialsIn = (decision: Decision) => {
      if (decision._tag !== "Publish") throw new Error(JSON.stringify(decision))
      const { credentials } = decision.publishable
      expect(JSON.stringify(credentials)).not.toMatch(/"hook"|enc:v1/)
      return credentials
    }
    const there = { kind: "gitea", base_url: "https://second.example" }
    const elsewhere = { ...there, base_url: "https://attacker.example" }
    const place = { entity: "triggers/second", path: "webhook_secret", from: undefined, before: undefined }
    const create = { op: "create", entity: second, value: secondValue } as const
    expect(credentialsIn(decideOn(emptyDocument, [create]))).toEqual([{ ...place, change: "set", after: there }])
    const head = withSecond()
    const rename = { op: "rename", entity: second, to: "third" } as const
    expect(credentialsIn(decideOn(head, [rename]))).toEqual([
      { ...place, entity: "triggers/third", change: "renamed", from: "triggers/second", before: there, after: there }
    ])
    const moved = { ...secondValue, base_url: elsewhere.base_url }
    expect(credentialsIn(decideOn(head, [{ op: "update", entity: second, value: moved }]))).toEqual([
      { ...place, change: "set", before: there, after: elsewhere }
    ])
    expect(credentialsIn(decideOn(head, [{ op: "set_enabled", entity: second, enabled: false }]))).toEqual([])
    const review = { op: "set", path: ["review", "max_problems"], value: 3 } as const
    expect(credentialsIn(decideOn(head, [review]))).toEqual([])
    const channel = { kind: "channels", name: "room" } as const
    const withChannel = published(
      decideOn(head, [
        { op: "create", entity: channel, value: { kind: "gitea_pr_review", trigger: "second", token: "hook" } }
      ])
    )
    expect(credentialsIn(decideOn(withChannel, [rename]))).toMatchObject([
      { entity: "triggers/third", change: "renamed" }
    ])
  })

  it("drops a credential for the name of a variable in its place", () => {
    const { webhook_secret: _, ...without } = secondValue
    const value = { ...without, webhook_secret_env: "GIVEN_SECRET" }
    const document = published(decideOn(withSecond(), [{ op: "update", entity: second, value }]))
    expect(secretIn(document)).toBeUndefined()
  })

  it("keeps a credential through a rename, and follows references", () => {
    const route = { kind: "routes", name: "10" } as const
    const head = published(
      decideOn(withSecond(), [{ op: "create", entity: route, value: { match: { trigger: "second" }, summary: [] } }])
    )
    const decision = decideOn(head, [{ op: "rename", entity: second, to: "third" }])
    const document = published(decision)
    expect(entityIn(document, second)).toBeUndefined()
    expect(entityIn(document, route)).toMatchObject({ match: { trigger: "third" } })
    const snapshot = decision._tag === "Publish" ? decision.publishable.snapshot : undefined
    const secret = snapshot?.triggers.get("third")?.webhookSecret
    expect(secret === undefined ? undefined : Redacted.value(secret)).toBe("hook")
  })

  it.each(["providers", "model_groups", "triggers", "workspaces", "prompts", "im_connections"] as const)(
    "follows one of %s that is renamed, in every field that names it, and in keys of maps",
    (kind) => {
      const old = "old-name"
      const bare = fileTree({ config_sources: { secret_refs: [] } })
      const document = parseDocument(
        {
          globals: {
            llm: {
              default_model_chain: old,
              triage_model_chain: old,
              per_provider_overrides: { [old]: { max_attempts: 2 } }
            },
            queue: { rate_limit: { per_provider_rps: { [old]: 2 } } },
            agent: { auth: { codex: old } },
            workspaces: { defaults: { model_chain: old, prompt: { system_prompt: old } } }
          },
          entities: {
            providers: { [old]: { kind: "openai_compatible", base_url: "https://llm.example/v1" } },
            model_groups: { [old]: [{ provider: old, model: "m" }] },
            prompts: { [old]: "Look closely." },
            triggers: { [old]: { kind: "gitea", base_url: "https://second.example" } },
            workspaces: {
              [old]: {
                source_repo: { trigger: old, repo: "a/b" },
                model_chain: old,
                prompt: { extra_system_prompt: old }
              }
            },
            routes: { rule: { match: { trigger: old }, analysis: { model_chain: old } } },
            im_connections: { [old]: { kind: "wecom_aibot", enabled: false, corp_id: "corp" } },
            im_command_bindings: {
              room: {
                connection: old,
                repositories: { shop: { workspace: old, source_trigger: old, repo_ref: "a/b" } }
              }
            }
          }
        },
        () => {}
      )
      const renamed = published(
        decideOn(document, [{ op: "rename", entity: { kind, name: old }, to: "new-name" }], {
          baseline: { ...baseline, file: bare }
        })
      )
      const count = (name: string): number => JSON.stringify(renamed).split(JSON.stringify(name)).length - 1
      const expected = { providers: 4, model_groups: 7, triggers: 4, workspaces: 2, prompts: 3, im_connections: 2 }
      expect(count("new-name")).toBe(expected[kind])
    }
  )

  it("refuses to rename the group that fields name by default, unless llm.default_model_chain names another", () => {
    const bare = { baseline: { ...baseline, file: fileTree({ config_sources: { secret_refs: [] } }) } }
    const group = { kind: "model_groups", name: "default" } as const
    const documentOf = (globals: object) =>
      parseDocument(
        {
          globals,
          entities: {
            providers: { p: { kind: "openai_compatible", base_url: "https://llm.example/v1" } },
            model_groups: { default: [{ provider: "p", model: "m" }] }
          }
        },
        () => {}
      )
    const rename = { op: "rename", entity: group, to: "main" } as const
    const refused = decideOn(documentOf({}), [rename], bare)
    expect(refused._tag === "Refused" ? refused.problems.map(({ reason }) => inEnglish(reason)) : refused._tag).toEqual(
      [expect.stringContaining('no group is named "default"')]
    )
    const named = published(decideOn(documentOf({ llm: { default_model_chain: "default" } }), [rename], bare))
    expect(named.globals).toMatchObject({ llm: { default_model_chain: "main" } })
  })

  it("keeps the credential of a channel whose trigger is renamed with it", () => {
    const room = { kind: "channels", name: "room" } as const
    const value = { kind: "gitea_pr_review", trigger: "second", base_url: "https://second.example", token: "t" }
    const head = published(decideOn(withSecond(), [{ op: "create", entity: room, value }]))
    const renames: ReadonlyArray<ConfigOperation> = [
      { op: "rename", entity: second, to: "third" },
      { op: "rename", entity: room, to: "hall" }
    ]
    expect(codes(decideOn(head, renames))).toBe("Publish")
    expect(codes(decideOn(head, renames.slice(0, 1)))).toBe("Publish")
    // The name of a renamed trigger is free for another one, which does not get its credential.
    const taken = [
      ...renames.slice(0, 1),
      { op: "create", entity: second, value: { kind: "gitea", base_url: "https://evil.example" } },
      { op: "set", entity: room, path: ["trigger"], value: "second" }
    ] satisfies ReadonlyArray<ConfigOperation>
    expect(codes(decideOn(head, taken))).toEqual([["secret_destination_changed", "channels/room", "token"]])
  })

  it("takes a credential that is entered again for a renamed entity with another destination", () => {
    const third = { kind: "triggers", name: "third" } as const
    const decision = decideOn(withSecond(), [
      { op: "rename", entity: second, to: "third" },
      { op: "set", entity: third, path: ["base_url"], value: "https://third.example" },
      { op: "set", entity: third, path: ["webhook_secret"], value: "new" }
    ])
    expect(codes(decision)).toBe("Publish")
  })

  it("is unchanged when the operations change nothing", () => {
    const operations: ReadonlyArray<ConfigOperation> = [{ op: "set_enabled", entity: second, enabled: false }]
    const head = published(decideOn(withSecond(), operations))
    expect(decideOn(head, operations)._tag).toBe("Unchanged")
  })

  it("applies route rules after those of the file, ordered by name", () => {
    const rule = (name: string): ConfigOperation => ({
      op: "create",
      entity: { kind: "routes", name },
      value: { match: { trigger: name === "b" ? "main" : "second" }, summary: [] }
    })
    const decision = decideOn(withSecond(), [rule("b"), rule("a")])
    const rules = decision._tag === "Publish" ? decision.publishable.snapshot.document.outputs.routes.rules : []
    expect(rules.map(({ match }) => match.trigger)).toEqual(["second", "main"])
  })
})

describe("a changeset is refused", () => {
  const appOfNode = { app_id: "1", private_key_path: "/etc/key" }
  const defaults: ConfigOperation = {
    op: "set",
    path: ["workspaces", "defaults", "outputs"],
    value: { channels: [{ name: "room", kind: "gitea", token: "********" }] }
  }
  type Case = readonly [
    title: string,
    operations: ReadonlyArray<ConfigOperation>,
    expected: ReadonlyArray<ReadonlyArray<string>>
  ]
  const cases: ReadonlyArray<Case> = [
    [
      "for an entity of the file",
      [{ op: "set_enabled", entity: { kind: "triggers", name: "main" }, enabled: false }],
      [["owned_by_file", "triggers/main", ""]]
    ],
    [
      "for a global field that the file sets",
      [{ op: "set", path: ["review", "max_passes"], value: 3 }],
      [["owned_by_file", "globals", "review.max_passes"]]
    ],
    [
      "for a namespace that only the file may set",
      [{ op: "set", path: ["server", "port"], value: 3 }],
      [["invalid_field", "globals", ""]]
    ],
    [
      "for the mask of a credential",
      [{ op: "set", entity: second, path: ["webhook_secret"], value: "********" }],
      [["masked_secret", "triggers/second", "webhook_secret"]]
    ],
    [
      "for a mask inside a global value",
      [defaults],
      [["masked_secret", "globals", "workspaces.defaults.outputs.channels[0].token"]]
    ],
    [
      "for the mask as a global value",
      [{ op: "set", path: ["llm", "default_model_chain"], value: "********" }],
      [["masked_secret", "globals", "llm.default_model_chain"]]
    ],
    [
      "for removing the name of an entity",
      [{ op: "unset", entity: second, path: ["name"] }],
      [["invalid_field", "triggers/second", "name"]]
    ],
    [
      "for a value with another name than the entity",
      [{ op: "update", entity: second, value: { ...secondValue, name: "other" } }],
      [["invalid_field", "triggers/second", "name"]]
    ],
    [
      "for a new name in use",
      [
        { op: "create", entity: { kind: "triggers", name: "third" }, value: { ...secondValue, webhook_secret: "x" } },
        { op: "rename", entity: second, to: "third" }
      ],
      [["entity_exists", "triggers/second", ""]]
    ],
    [
      "for a new name that the file owns",
      [{ op: "rename", entity: second, to: "main" }],
      [["owned_by_file", "triggers/second", ""]]
    ],
    [
      "for a new name of an object's prototype",
      [{ op: "rename", entity: second, to: "__proto__" }],
      [["invalid_field", "triggers/second", ""]]
    ],
    [
      "for a granted variable in another field",
      [
        {
          op: "create",
          entity: { kind: "triggers", name: "third" },
          value: { ...secondValue, token_env: "GIVEN_TOKEN" }
        }
      ],
      [["secret_ref_missing", "triggers/third", "token_env"]]
    ],
    [
      "for a document that is too large",
      Array.from({ length: 40 }, (_, n) => ({
        op: "create" as const,
        entity: { kind: "prompts" as const, name: `p${n}` },
        value: "x".repeat(30_000)
      })),
      [["document_too_large", "", ""]]
    ],
    [
      "for a mask inside a new value",
      [{ op: "update", entity: second, value: { ...secondValue, webhook_secret: "********" } }],
      [["masked_secret", "triggers/second", "webhook_secret"]]
    ],
    [
      "for an unknown field",
      [{ op: "set", entity: second, path: ["base_ulr"], value: "x" }],
      [["invalid_field", "triggers/second", ""]]
    ],
    [
      "for an entity that does not exist",
      [{ op: "delete", entity: { kind: "channels", name: "none" } }],
      [["entity_not_found", "channels/none", ""]]
    ],
    [
      "for a name in use",
      [{ op: "create", entity: second, value: secondValue }],
      [["entity_exists", "triggers/second", ""]]
    ],
    [
      "for the name of an object's prototype",
      [{ op: "create", entity: { kind: "prompts", name: "__proto__" }, value: "x" }],
      [["invalid_field", "prompts/__proto__", ""]]
    ],
    [
      "for a name that controls a terminal",
      [{ op: "create", entity: { kind: "prompts", name: "a\u001b[2Jb" }, value: "x" }],
      [["invalid_field", "prompts/a\u001b[2Jb", ""]]
    ],
    [
      "for a name of two lines",
      [{ op: "create", entity: { kind: "prompts", name: "a\nb" }, value: "x" }],
      [["invalid_field", "prompts/a\nb", ""]]
    ],
    [
      "for a name with an invisible character",
      [{ op: "create", entity: { kind: "prompts", name: "a\u200bb" }, value: "x" }],
      [["invalid_field", "prompts/a\u200bb", ""]]
    ],
    [
      "for a name in the other direction of writing",
      [{ op: "create", entity: { kind: "prompts", name: "a\u202eb" }, value: "x" }],
      [["invalid_field", "prompts/a\u202eb", ""]]
    ],
    [
      "for a name that begins with white space",
      [{ op: "create", entity: { kind: "prompts", name: " a" }, value: "x" }],
      [["invalid_field", "prompts/ a", ""]]
    ],
    [
      "for a new name with a control character",
      [{ op: "rename", entity: second, to: "a\u0007b" }],
      [["invalid_field", "triggers/second", ""]]
    ],
    [
      "for a stored credential with another destination",
      [{ op: "set", entity: second, path: ["base_url"], value: "https://evil.example" }],
      [["secret_destination_changed", "triggers/second", "webhook_secret"]]
    ],
    [
      "for a stored credential of a renamed entity with another destination",
      [
        { op: "rename", entity: second, to: "third" },
        { op: "set", entity: { kind: "triggers", name: "third" }, path: ["base_url"], value: "https://evil.example" }
      ],
      [["secret_destination_changed", "triggers/third", "webhook_secret"]]
    ],
    [
      "for a stored credential of an entity that is redirected and then renamed twice",
      [
        { op: "set", entity: second, path: ["base_url"], value: "https://evil.example" },
        { op: "rename", entity: second, to: "third" },
        { op: "rename", entity: { kind: "triggers", name: "third" }, to: "fourth" }
      ],
      [["secret_destination_changed", "triggers/fourth", "webhook_secret"]]
    ],
    [
      "for a variable that the file does not grant",
      [{ op: "set", entity: second, path: ["token_env"], value: "OTHER_TOKEN" }],
      [["secret_ref_missing", "triggers/second", "token_env"]]
    ],
    [
      "for a granted variable at another destination",
      [
        {
          op: "update",
          entity: second,
          value: {
            kind: "gitea",
            base_url: "https://evil.example",
            webhook_secret: "new",
            token_env: "GIVEN_TOKEN"
          }
        }
      ],
      [["secret_ref_missing", "triggers/second", "token_env"]]
    ],
    [
      "for files, programs and credentials of the nodes",
      [
        { op: "create", entity: { kind: "providers", name: "cloud" }, value: { kind: "bedrock", aws_profile: "prod" } },
        { op: "create", entity: { kind: "triggers", name: "app" }, value: { kind: "github", app: appOfNode } },
        { op: "set", path: ["agent", "sandbox", "image"], value: "evil.example/agents" },
        { op: "set", path: ["workspaces", "defaults", "prompt", "base_system_prompt_file"], value: "/etc/shadow" }
      ],
      [
        ["owned_by_file", "globals", "agent.sandbox.image"],
        ["owned_by_file", "globals", "workspaces.defaults.prompt.base_system_prompt_file"],
        ["owned_by_file", "providers/cloud", "aws_profile"],
        ["owned_by_file", "triggers/app", "app.private_key_path"]
      ]
    ],
    ...["rsh:touch /tmp/owned", "rsh:1666", "jsh:x", "ssl:rsh:x"].map((port): Case => [
      `for the server ${port}, for which the client of Perforce would start a program`,
      [
        { op: "create", entity: { kind: "triggers", name: "depot" }, value: { kind: "perforce", port, user: "a" } },
        {
          op: "create",
          entity: { kind: "workspaces", name: "w" },
          value: {
            source_repo: { trigger: "second", repo: "a/b" },
            context_repositories: [{ alias: "lib", kind: "perforce", port, user: "a", depot_path: "//depot/..." }]
          }
        }
      ],
      [
        ["invalid_configuration", "triggers/depot", "port"],
        ["invalid_configuration", "workspaces/w", "context_repositories.lib.port"]
      ]
    ]),
    [
      "for a configuration that is invalid together with the file",
      [
        {
          op: "create",
          entity: { kind: "routes", name: "1" },
          value: { match: { trigger: "none" }, summary: [] }
        }
      ],
      [["invalid_configuration", "routes/1", "match.trigger"]]
    ]
  ]
  it.each(cases)("%s", (_title, operations, expected) => {
    expect(codes(decideOn(withSecond(), operations))).toEqual(expected)
  })

  it("without a key for a literal credential", () => {
    const { SVC_CONFIG_SECRETS_KEY: _, ...env } = baseline.env
    const decision = decide(
      {
        operations: [{ op: "create", entity: second, value: secondValue }],
        base: { number: 0, document: emptyDocument },
        head: { number: 0, document: emptyDocument },
        strict: false
      },
      { ...baseline, env }
    )
    expect(codes(decision)).toEqual([["secrets_key_missing", "triggers/second", "webhook_secret"]])
  })

  it("unless the variable goes to the granted destination", () => {
    const decision = decideOn(withSecond(), [{ op: "set", entity: second, path: ["token_env"], value: "GIVEN_TOKEN" }])
    expect(decision._tag).toBe("Publish")
  })
})

describe("checks of a server's identity", () => {
  const svn = { kind: "triggers", name: "svn" } as const
  const depot = { kind: "triggers", name: "depot" } as const
  const values = {
    svn: { kind: "subversion", repository_url: "https://svn.example/repository", username: "aicr" },
    depot: { kind: "perforce", port: "ssl:p4.example:1666", p4_fingerprint: "AA:BB", user: "aicr" }
  }
  const head = () =>
    published(
      decideOn(emptyDocument, [
        { op: "create", entity: svn, value: { ...values.svn, password: "p" } },
        { op: "create", entity: depot, value: { ...values.depot, password: "p" } }
      ])
    )
  const refs = [
    {
      env: "GIVEN_TOKEN",
      target: ["triggers", "svn", "password_env"],
      destinations: {
        svn: { kind: "subversion", endpoints: { repository_url: "https://svn.example/repository" } },
        proxy: {
          kind: "subversion",
          endpoints: { repository_url: "https://svn.example/repository", trust_server_cert: true }
        }
      }
    },
    {
      env: "GIVEN_SECRET",
      target: ["triggers", "depot", "password_env"],
      destinations: {
        depot: { kind: "perforce", endpoints: { port: "ssl:p4.example:1666", p4_fingerprint: "AA:BB" } }
      }
    }
  ]
  const granting = (secret_refs: unknown) => ({
    baseline: { ...baseline, file: fileTree({ ...source, config_sources: { secret_refs } }) }
  })

  it("are part of the destination of a stored credential", () => {
    const trusting: ConfigOperation = { op: "set", entity: svn, path: ["trust_server_cert"], value: true }
    const other: ConfigOperation = { op: "set", entity: depot, path: ["p4_fingerprint"], value: "CC:DD" }
    expect(codes(decideOn(head(), [trusting, other]))).toEqual([
      ["secret_destination_changed", "triggers/svn", "password"],
      ["secret_destination_changed", "triggers/depot", "password"]
    ])
    const said: ConfigOperation = { op: "set", entity: svn, path: ["trust_server_cert"], value: false }
    expect(decideOn(head(), [said])._tag).toBe("Publish")
  })

  it("are part of the destination that the file grants", () => {
    const create = (trust_server_cert: boolean, p4_fingerprint: string): ReadonlyArray<ConfigOperation> => [
      { op: "create", entity: svn, value: { ...values.svn, trust_server_cert, password_env: "GIVEN_TOKEN" } },
      { op: "create", entity: depot, value: { ...values.depot, p4_fingerprint, password_env: "GIVEN_SECRET" } }
    ]
    expect(codes(decideOn(emptyDocument, create(false, "AA:BB"), granting(refs)))).toBe("Publish")
    expect(codes(decideOn(emptyDocument, create(true, "AA:BB"), granting(refs)))).toBe("Publish")
    expect(codes(decideOn(emptyDocument, create(true, "CC:DD"), granting(refs)))).toEqual([
      ["secret_ref_missing", "triggers/depot", "password_env"]
    ])
    const [strict] = refs
    const { proxy: _, ...only } = strict?.destinations ?? {}
    expect(
      codes(
        decideOn(emptyDocument, create(true, "AA:BB"), granting([{ ...strict, destinations: only }, ...refs.slice(1)]))
      )
    ).toEqual([["secret_ref_missing", "triggers/svn", "password_env"]])
  })
})

describe("the credential of a channel without a trigger", () => {
  const channel = { name: "room", kind: "gitea_pr_review" }
  const evil: ConfigOperation = {
    op: "create",
    entity: second,
    value: { ...secondValue, base_url: "https://evil.example" }
  }
  const inFile = (more: object) => ({
    baseline: {
      ...baseline,
      file: fileTree({ ...source, outputs: { channels: [{ ...channel, token_env: "FILE_TOKEN", ...more }] } }),
      env: { ...baseline.env, FILE_TOKEN: "t" }
    }
  })

  it("is not sent to the host of a trigger that the database adds", () => {
    expect(codes(decideOn(emptyDocument, [evil], inFile({})))).toEqual([
      ["secret_ref_missing", "channels/room", "token_env"]
    ])
    const stored = published(
      decideOn(emptyDocument, [
        { op: "create", entity: { kind: "channels", name: "own" }, value: { kind: channel.kind, token: "t" } }
      ])
    )
    expect(codes(decideOn(stored, [evil]))).toEqual([["secret_destination_changed", "channels/own", "token"]])
  })

  it.each([
    ["goes on to the hosts of the file", { ...secondValue, base_url: "https://git.example" }, {}],
    ["goes to its own address", secondValue, { base_url: "https://git.example" }],
    ["goes to its trigger", secondValue, { trigger: "main" }],
    ["is not used for hosts of other kinds", { kind: "gitlab", webhook_secret: "hook" }, {}]
  ])("%s", (_title, value, more) => {
    expect(codes(decideOn(emptyDocument, [{ op: "create", entity: second, value }], inFile(more)))).toBe("Publish")
  })

  it("does not go through the proxy of a trigger that the database adds", () => {
    const value = { ...secondValue, http_proxy: "http://evil.example" }
    const proxied: ConfigOperation = { op: "create", entity: second, value }
    expect(codes(decideOn(emptyDocument, [proxied], inFile({ base_url: "http://git.example" })))).toEqual([
      ["secret_ref_missing", "channels/room", "token_env"]
    ])
  })
})

describe("a variable of the file", () => {
  const channel = { name: "room", kind: "gitea_pr_review", trigger: "second", token_env: "FILE_TOKEN" }
  const at = (base_url: string, more: object = {}) => ({
    ...baseline,
    file: fileTree({ ...source, outputs: { channels: [channel] }, ...more }),
    env: { ...baseline.env, FILE_TOKEN: "t" },
    base_url
  })
  const create = (ofFile: ReturnType<typeof at>) =>
    decideOn(emptyDocument, [{ op: "create", entity: second, value: { ...secondValue, base_url: ofFile.base_url } }], {
      baseline: ofFile
    })

  it("goes to a trigger of the database only where the file grants that", () => {
    const address = "https://second.example"
    expect(codes(create(at(address)))).toEqual([["secret_ref_missing", "channels/room", "token_env"]])
    const destination = { kind: "gitea_pr_review", endpoints: {} }
    const trigger = { name: "second", kind: "gitea", endpoints: { base_url: address } }
    const grant = {
      env: "FILE_TOKEN",
      target: ["outputs", "channels", "room", "token_env"],
      destinations: { second: { ...destination, trigger } }
    }
    const granted = { config_sources: { secret_refs: [grant] } }
    expect(codes(create(at(address, granted)))).toBe("Publish")
    expect(codes(create(at("https://evil.example", granted)))).toEqual([
      ["secret_ref_missing", "channels/room", "token_env"]
    ])
  })
})

describe("edits of an older revision", () => {
  const rule: ConfigOperation = {
    op: "set",
    entity: second,
    path: ["exclude_cr_file"],
    value: ["*.lock"]
  }
  const base = withSecond()
  const other = published(decideOn(base, [{ op: "set_enabled", entity: second, enabled: false }]))

  it("apply to the head when nothing overlaps, and say from which revision", () => {
    const decision = decideOn(other, [rule], { base })
    expect(decision._tag === "Publish" ? decision.publishable.rebasedFrom : undefined).toBe(1)
    expect(entityIn(published(decision), second)).toMatchObject({ enabled: false, exclude_cr_file: ["*.lock"] })
  })

  it("conflict when the same field changed, with all three values", () => {
    const decision = decideOn(other, [{ op: "set_enabled", entity: second, enabled: true }], { base })
    expect(decision).toEqual({
      _tag: "Conflict",
      head: 2,
      conflicts: [{ path: ["triggers/second", "enabled"], base: undefined, head: false, yours: true }]
    })
  })

  it("conflict when the new name of an entity was given to another one", () => {
    const third = { kind: "triggers", name: "third" } as const
    const taken = published(
      decideOn(base, [{ op: "create", entity: third, value: { ...secondValue, webhook_secret: "x" } }])
    )
    const decision = decideOn(taken, [{ op: "rename", entity: second, to: "third" }], { base })
    expect(decision).toMatchObject({ _tag: "Conflict", conflicts: [{ path: ["triggers/third"] }] })
  })

  it("conflict when the whole entity is replaced", () => {
    expect(decideOn(other, [{ op: "update", entity: second, value: secondValue }], { base })._tag).toBe("Conflict")
  })

  it("conflict in strict form even if nothing overlaps", () => {
    expect(decideOn(other, [rule], { base, strict: true })).toEqual({ _tag: "Conflict", head: 2, conflicts: [] })
  })
})

describe("a stored document", () => {
  it("reports unknown kinds, keys and fields", () => {
    const found: Array<string> = []
    parseDocument({ global: {}, entities: { trigger: {}, triggers: { x: { kind: "gitea", nope: 1 } } } }, ({ path }) =>
      found.push(path.join("."))
    )
    expect(found).toEqual(["global", "entities.trigger", "entities.triggers.x.nope"])
  })
})
