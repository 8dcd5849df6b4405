/** Failures of the record database, of the object store and of the files of a node. */
import type { storeReasons } from "../../domain/reasons/Store.ts"

export const storeTexts = {
  SqliteFails: "SQLite file {path}: {why}. {next}",
  SqlitePathNext:
    "Check that the path is right, and that its folder exists or can be created and is writable by this user",
  SqliteLockNext: "Another process holds its lock; stop it or wait for it",
  SqliteReadOnlyNext: "It is read-only for this user; make the file and its folder writable",
  SqliteDiskNext: "The disk reported an error; check the disk and the file system",
  SqliteDamagedNext: "It is damaged; restore it from a backup, or rename it to start with an empty one",
  SqliteFullNext: "The disk is full; free some space",
  SqliteFormatNext: "It is not a SQLite database; rename it or configure another path",
  PostgresFails: "Postgres {server}: {why}[[. {next}]]",
  PostgresConnectNext:
    "Let its owner run: GRANT CONNECT ON DATABASE its name TO the user in the variable of {=storage.database.postgres.url_env}",
  PostgresSchemaNext:
    "Let its owner run: GRANT USAGE, CREATE ON SCHEMA its name TO the user in the variable of {=storage.database.postgres.url_env}",
  PostgresOwnerNext:
    'The schema can only be changed by the owner of its tables. Run "aicr db migrate" as that user, or let it run: REASSIGN OWNED BY its name TO the user in the variable of {=storage.database.postgres.url_env}',
  PostgresTablesNext:
    "Let the owner of the tables run: GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO the user in the variable of {=storage.database.postgres.url_env}",
  PostgresRightsNext:
    "Give the user in the variable of {=storage.database.postgres.url_env} the right to create tables, functions and triggers in its schema",
  PostgresUserNext: "Check the user and the password in the variable of {=storage.database.postgres.url_env}",
  PostgresDatabaseNext: "Create the database, or name another one in {=storage.database.postgres}",
  PostgresConnectionsNext: "Raise max_connections of the server, or run fewer nodes",
  PostgresDiskNext: "The disk of the server is full; free some space",
  PostgresStandbyNext: "It is a standby; name the primary in {=storage.database.postgres}",
  PostgresAddressNext: "Check the address and that it runs",
  PostgresUrlUnreadable:
    "The connection string of {=storage.database.postgres} cannot be read; write it as postgres://user:password@host:5432/database",
  PostgresUrlRefused: "The connection string of {=storage.database.postgres}: {why}",
  PostgresUrlExpected: "not a postgres:// URL; write it as postgres://user:password@host:5432/database",
  SslModeUnclear: "sslmode {mode} does not say whether to encrypt; use one of {modes}",
  SslRootMissing: "sslmode verify-ca needs sslrootcert, a file",
  CertificateUnreadable: "the file {path} cannot be read",
  RedisFails: "Redis at {server}: {why}",
  RedisUrlInvalid:
    "invalid Redis URL in {=storage.cache.redis.url_env}; write it as redis://host:port or rediss://host:port",
  RedisRefuses: "{why}. {next}",
  RedisUserNext: "Check user and password in the URL that {=storage.cache.redis.url_env} names",
  RedisCommandsNext:
    "The user needs EVALSHA, EVAL, INFO, MULTI, EXEC, DEL, EXISTS, EXPIRE, PERSIST and the commands of strings, hashes, lists and streams on the keys of the queue.",
  RedisMemoryNext: "Raise maxmemory",
  RedisDiskNext: "Redis cannot write to its disk; see its log",
  RedisReplicaNext: "It is a replica; connect to the primary",
  RedisRetryNext: "It is tried again",
  RedisTooOld: "it is Redis {version}. Install Redis 6.2 or newer",
  S3Fails: "S3 {bucket}: {why}. {next}",
  S3Status: "status {status}",
  S3Refused: "{code}, {why}",
  S3TooLarge: "the response has more than {bytes} bytes",
  S3RightsNext: "Give this access key the right to list, read, write and delete objects of the bucket",
  S3KeyNext: "Check the variable of {=storage.object.s3.access_key_id_env}",
  S3SecretNext: "Check the variable of {=storage.object.s3.secret_access_key_env}",
  S3BucketNext: "Create the bucket, or name another one in {=storage.object.s3.bucket}",
  S3EndpointNext: "Check {=storage.object.s3.region_env} and endpoint_url_env",
  S3RegionNext: "Check {=storage.object.s3.region_env}",
  S3ClockNext: "Set the clock of this machine",
  S3Next: "Check {=storage.object.s3} and that it can be reached",
  S3EndpointInvalid: "{=storage.object.s3}: invalid endpoint URL; write it as https://s3.example.com",
  S3BucketNoHost:
    "{=storage.object.s3}: bucket {bucket} cannot be part of the host name at {host}; set force_path_style to true",
  S3TooManyPages: "There are more than {count} pages of objects below {prefix}",
  ObjectFolderFails:
    "{why}. Check that the folder {folder} ({=storage.object.filesystem.root}) can be written by this user and has room",
  RecordUndecodable: "A stored record cannot be decoded: {why}",
  RecordsBehind: "{count} records wait to be stored; the database does not keep up with what comes in",
  ChatMessagesBehind: "{count} chat messages wait to be stored; the database does not keep up with what comes in",
  ServiceStopping: "The service is stopping",
  BudgetLedgerSilent: "the budget ledger does not respond",
  NoResponseWithin: "no response within {seconds} seconds",
  DataFolderTaken:
    "Another aicr process uses the data folder {folder}. Stop that process, or give this one a folder of its own ({=storage.database.sqlite.path})",
  QueueTaken:
    "Another aicr process uses the queue {path}. Stop it, or use the administration of the running service (/api/admin/queue)",
  FolderUnwritable: "cannot write to the folder {folder}: {why}",
  DiskUnusable: "{path}: {why}. Free some space, or check the disk",
  FolderRefused: "{why}. Name a folder that this user can create and write, or correct its permissions",
  PostgresUnconfigured:
    "{=storage.database.kind} postgres needs a connection: set {=storage.database.postgres.url_env} and the variable it names",
  RedisUnconfigured:
    "{={field}} redis needs a connection: set {=storage.cache.redis.url_env} and the variable it names",
  S3Unconfigured:
    "{=storage.object.kind} s3 needs {=storage.object.s3.bucket}, access_key_id_env and secret_access_key_env, and the variables they name",
  StepPending:
    'The database lacks the step {step}. Run "aicr db migrate", or start the service, which applies them unless {=storage.database.migrate} is "verify"',
  StepsPending:
    'The database lacks {count} steps ({first} to {last}). Run "aicr db migrate", or start the service, which applies them unless {=storage.database.migrate} is "verify"',
  DatabaseRightsMissing:
    "The user of Postgres ({=storage.database.postgres.url_env}) lacks rights to create tables, functions and triggers. Let an administrator of this database run: {grants}",
  DatabaseOfOtherForm:
    "The database has another form than this program makes ({steps} differs): a build before the first release made it. Nothing was changed. Use the build that made it, or configure another, empty database (docs/operations.md)",
  DatabaseOfNewerRelease:
    "The database has the migrations {steps}, which are unknown to this release. Start the newer release that made them, or restore a backup from before the upgrade (docs/operations.md)",
  DatabaseSourceOff: "{=config_sources.database.enabled} is false in the configuration file of this node",
  StoreSilent: "its store does not respond within {seconds} seconds"
} as const satisfies Record<keyof typeof storeReasons, string>
