/** Fields of the configuration: keys, rules between fields, variables, names. */
import type { configFieldReasons } from "../../domain/reasons/ConfigField.ts"

export const configFieldTexts = {
  PlacedProblem: "{place} {reason}",
  RootExpected: "expected a map of {fields}",
  KeyRefused: "the key {key} is refused; choose another name",
  TwoSpellings: "{first} and {second} are two spellings of the same field; keep one",
  KeyUnknown: "unknown key {key}[[; did you mean {suggestion}?]][[ (allowed here: {allowed})]]",
  KeyLength: "a key here has 1 to 512 characters",
  KeyReserved: "{key} is a reserved word; choose another id (reserved: {reserved})",
  KeyNotAllowed: "the key {key} is not allowed: expected {expected}, keys matching {pattern}",
  NeededBy: "missing; {who}[[ ({first} or {other})]] needs it",
  UnusableWith: "{field} {value} cannot use this field; {count|only {usable} can|these can: {usable}}",
  SetTogether: "set together with {field}; keep one of them",
  WinsOver: "wins over {field}, which is not used",
  NeedsOneOf: "needs exactly one of {fields}",
  Reserved: "reserved: accepted and without effect; {why}",
  Unimplemented: "{value} is accepted and not implemented; {instead}",
  WithoutEffect: "without effect in this build: {why}",
  ReportsToRoutes: "reports go to the routes of the workspace, the only policy",
  BackendSetsExpiry: "lock expiry is set by the backend (queue.sqlite.lock_ttl_seconds)",
  NotConsumed: "not consumed at runtime",
  RenderedWithHandlebars: "templates are rendered with handlebars",
  NamesNodeFile: "names a file or a folder of the nodes",
  NamesCredentialFile: "names a file of the nodes",
  SelectsProgram: "selects what the nodes execute",
  NamesNodeCredential: "names a credential of the nodes",
  DecidesCluster: "decides where and how isolated the cluster executes agents",
  EndsIsolation: "ends the isolation of the nodes",
  DecidesUsers: "decides as which users the nodes start programs",
  ReadsNodeRepository: "reads a repository or a key of the nodes (file, svn+ssh)",
  VariableNotSet: "the environment variable {variable} is not set",
  VariableNeeded: "the environment variable {variable} is not set; set it",
  VariableBlank: "the environment variable {variable} holds nothing but white space; set it",
  NamedHere: "named here",
  CredentialForName:
    "expected the name of an environment variable, found what looks like a credential; put it into a variable and write the variable's name",
  HashExpected: "expected sha256: followed by 64 hexadecimal digits",
  IssuerUnencrypted: "expected an address that begins with https://, because tokens of people are sent there",
  OpenidScopeMissing: "expected `openid` among the scopes",
  RedisNeedsCache: "redis requires storage.cache.kind redis and storage.cache.redis.url_env",
  NatsWithoutConnection: "nats without a connection falls back to memory; set SVC_NATS_URL",
  RecordsOfOneNode:
    "SVC_NATS_URL is set, so nodes work together: {kind} keeps records where only one node sees them; use postgres",
  QueueOfOneNode:
    "SVC_NATS_URL is set, so nodes work together: {kind} keeps the queue where only one node sees it; use redis or nats",
  FolderOfOneNode:
    "SVC_NATS_URL is set, so nodes work together: mount the same storage at {folder} on every node, or use s3",
  NoDefaultGroup: 'no group is named "default"; name one so, or set llm.default_model_chain to one that exists',
  NativeNeedsGroup:
    "missing; workspace {workspace} uses agent mode native-llm, which calls the models of a group; add llm.providers and llm.model_chain.default",
  SubscriptionGroup:
    "the group {group} has a provider with subscription: true, which only the agent of its maker may use; name the group in agent.auth, and another group here",
  ForeignSubscription:
    "{mode} may not use the subscription of the provider {provider}, which belongs to the agent of another maker; name a group without it",
  BackoffOrder: "base_ms ({base}) is above max_ms ({maximum})",
  NameUnknown:
    "{name} does not exist in {place}[[; did you mean {suggestion}?]][[; there are {names}]][[; {none} has none]]",
  NameTaken: "{name} is already used by {place}; choose another {key}"
} as const satisfies Record<keyof typeof configFieldReasons, string>
