/** Fields of the configuration: keys, rules between fields, variables, names. */
import type { Params } from "../ReasonParams.ts"

export const configFieldReasons = {
  PlacedProblem: { place: "text", reason: "reason" },
  /** Keys. */
  RootExpected: { fields: "texts" },
  KeyRefused: { key: "text" },
  TwoSpellings: { first: "text", second: "text" },
  KeyUnknown: { key: "text", suggestion: "text?", allowed: "texts?" },
  KeyLength: {},
  KeyReserved: { key: "text", reserved: "texts" },
  KeyNotAllowed: { key: "text", expected: "reason", pattern: "text" },
  /** Fields that do not fit each other. */
  NeededBy: { who: "text", first: "text?", other: "text?" },
  UnusableWith: { field: "text", value: "text", count: "number", usable: "texts" },
  SetTogether: { field: "text" },
  WinsOver: { field: "text" },
  NeedsOneOf: { fields: "texts" },
  Reserved: { why: "reason" },
  Unimplemented: { value: "text", instead: "reason" },
  WithoutEffect: { why: "reason" },
  ReportsToRoutes: {},
  BackendSetsExpiry: {},
  NotConsumed: {},
  RenderedWithHandlebars: {},
  /** Reasons for which only the file may set a value. */
  NamesNodeFile: {},
  NamesCredentialFile: {},
  SelectsProgram: {},
  NamesNodeCredential: {},
  DecidesCluster: {},
  EndsIsolation: {},
  DecidesUsers: {},
  ReadsNodeRepository: {},
  /** Variables and credentials. */
  VariableNotSet: { variable: "reason" },
  VariableNeeded: { variable: "reason" },
  VariableBlank: { variable: "reason" },
  NamedHere: {},
  CredentialForName: {},
  HashExpected: {},
  /** Stores and nodes. */
  RedisNeedsCache: {},
  IssuerUnencrypted: {},
  OpenidScopeMissing: {},
  NatsWithoutConnection: {},
  RecordsOfOneNode: { kind: "text" },
  QueueOfOneNode: { kind: "text" },
  FolderOfOneNode: { folder: "text" },
  /** Model groups. */
  NoDefaultGroup: {},
  NativeNeedsGroup: { workspace: "text" },
  SubscriptionGroup: { group: "text" },
  ForeignSubscription: { mode: "text", provider: "text" },
  BackoffOrder: { base: "number", maximum: "number" },
  /** Names. */
  NameUnknown: { name: "text", place: "text", suggestion: "text?", names: "texts?", none: "text?" },
  NameTaken: { name: "text", place: "text", key: "text" }
} as const satisfies Record<string, Params>
