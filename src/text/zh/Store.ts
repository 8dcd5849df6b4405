/** Failures of the record database, of the object store and of the files of a node. */
import type { storeReasons } from "../../domain/reasons/Store.ts"

export const storeTexts = {
  SqliteFails: "SQLite 文件 {path}：{why}。{next}",
  SqlitePathNext: "请检查路径是否正确，其文件夹是否存在或可创建，并可由该用户写入",
  SqliteLockNext: "另一个进程持有其锁；请停止该进程或等待",
  SqliteReadOnlyNext: "该用户只能读取；请使文件及其文件夹可写",
  SqliteDiskNext: "磁盘报告错误；请检查磁盘和文件系统",
  SqliteDamagedNext: "文件已损坏；请从备份恢复，或重命名后以空文件启动",
  SqliteFullNext: "磁盘已满；请释放空间",
  SqliteFormatNext: "不是 SQLite 数据库；请重命名该文件或配置其他路径",
  PostgresFails: "Postgres 服务器 {server}：{why}[[。{next}]]",
  PostgresConnectNext:
    "请让其所有者执行：GRANT CONNECT ON DATABASE 其名称 TO {=storage.database.postgres.url_env} 所指变量中的用户",
  PostgresSchemaNext:
    "请让其所有者执行：GRANT USAGE, CREATE ON SCHEMA 其名称 TO {=storage.database.postgres.url_env} 所指变量中的用户",
  PostgresOwnerNext:
    "只有表的所有者可以更改结构。请以该用户运行 aicr db migrate，或让其执行：REASSIGN OWNED BY 其名称 TO {=storage.database.postgres.url_env} 所指变量中的用户",
  PostgresTablesNext:
    "请让表的所有者执行：GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {=storage.database.postgres.url_env} 所指变量中的用户",
  PostgresRightsNext:
    "请授予 {=storage.database.postgres.url_env} 所指变量中的用户在其 schema 中创建表、函数和触发器的权限",
  PostgresUserNext: "请检查 {=storage.database.postgres.url_env} 所指变量中的用户和密码",
  PostgresDatabaseNext: "请创建该数据库，或在 {=storage.database.postgres} 中指定另一个",
  PostgresConnectionsNext: "请提高服务器的 max_connections，或减少节点",
  PostgresDiskNext: "服务器的磁盘已满；请释放空间",
  PostgresStandbyNext: "这是备用服务器；请在 {=storage.database.postgres} 中指定主服务器",
  PostgresAddressNext: "请检查地址以及服务器是否运行",
  PostgresUrlUnreadable:
    "无法读取 {=storage.database.postgres} 的连接字符串；请写成 postgres://user:password@host:5432/database",
  PostgresUrlRefused: "{=storage.database.postgres} 的连接字符串：{why}",
  PostgresUrlExpected: "不是 postgres:// URL；请写成 postgres://user:password@host:5432/database",
  SslModeUnclear: "sslmode {mode} 未说明是否加密；请使用 {modes} 之一",
  SslRootMissing: "sslmode verify-ca 需要文件 sslrootcert",
  CertificateUnreadable: "无法读取文件 {path}",
  RedisFails: "Redis 服务器 {server}：{why}",
  RedisUrlInvalid: "{=storage.cache.redis.url_env} 中的 Redis URL 无效；请写成 redis://host:port 或 rediss://host:port",
  RedisRefuses: "{why}。{next}",
  RedisUserNext: "请检查 {=storage.cache.redis.url_env} 所指 URL 中的用户和密码",
  RedisCommandsNext:
    "该用户需要对队列的键使用 EVALSHA、EVAL、INFO、MULTI、EXEC、DEL、EXISTS、EXPIRE、PERSIST 以及字符串、哈希、列表和流的命令",
  RedisMemoryNext: "请提高 maxmemory",
  RedisDiskNext: "Redis 无法写入其磁盘；请查看其日志",
  RedisReplicaNext: "这是副本；请连接主服务器",
  RedisRetryNext: "将重试",
  RedisTooOld: "其版本为 Redis {version}，请安装 Redis 6.2 或更新版本",
  S3Fails: "S3 {bucket}：{why}。{next}",
  S3Status: "状态码 {status}",
  S3Refused: "{code}，{why}",
  S3TooLarge: "响应超过 {bytes} 字节",
  S3RightsNext: "请授予该访问密钥列出、读取、写入和删除存储桶中对象的权限",
  S3KeyNext: "请检查 {=storage.object.s3.access_key_id_env} 所指变量",
  S3SecretNext: "请检查 {=storage.object.s3.secret_access_key_env} 所指变量",
  S3BucketNext: "请创建存储桶，或在 {=storage.object.s3.bucket} 中指定另一个",
  S3EndpointNext: "请检查 {=storage.object.s3.region_env} 和 endpoint_url_env",
  S3RegionNext: "请检查 {=storage.object.s3.region_env}",
  S3ClockNext: "请校准本机时钟",
  S3Next: "请检查 {=storage.object.s3} 以及能否连接",
  S3EndpointInvalid: "{=storage.object.s3}：端点 URL 无效；请写成 https://s3.example.com",
  S3BucketNoHost:
    "{=storage.object.s3}：存储桶 {bucket} 不能作为 {host} 的主机名的一部分；请将 force_path_style 设为 true",
  S3TooManyPages: "{prefix} 下的对象超过 {count} 页",
  ObjectFolderFails: "{why}。请检查文件夹 {folder}（{=storage.object.filesystem.root}）是否可由该用户写入且有空间",
  RecordUndecodable: "无法解码存储的记录：{why}",
  RecordsBehind: "{count} 条记录等待存储；数据库跟不上写入速度",
  ChatMessagesBehind: "{count} 条聊天消息等待存储；数据库跟不上写入速度",
  ServiceStopping: "服务正在停止",
  BudgetLedgerSilent: "预算账本没有响应",
  NoResponseWithin: "{seconds} 秒内没有响应",
  DataFolderTaken:
    "另一个 aicr 进程正在使用数据文件夹 {folder}。请停止该进程，或为本进程指定单独的文件夹（{=storage.database.sqlite.path}）",
  QueueTaken: "另一个 aicr 进程正在使用队列 {path}。请停止该进程，或使用运行中的服务的管理接口（/api/admin/queue）",
  FolderUnwritable: "无法写入文件夹 {folder}：{why}",
  DiskUnusable: "{path}：{why}。请释放空间，或检查磁盘",
  FolderRefused: "{why}。请指定该用户可以创建和写入的文件夹，或修正其权限",
  PostgresUnconfigured:
    "{=storage.database.kind} postgres 需要连接：请设置 {=storage.database.postgres.url_env} 及其所指变量",
  RedisUnconfigured: "{={field}} redis 需要连接：请设置 {=storage.cache.redis.url_env} 及其所指变量",
  S3Unconfigured:
    "{=storage.object.kind} s3 需要 {=storage.object.s3.bucket}、access_key_id_env 和 secret_access_key_env，以及它们所指的变量",
  StepPending:
    "数据库缺少步骤 {step}。请运行 aicr db migrate，或启动服务（除非 {=storage.database.migrate} 为 verify，服务会应用这些步骤）",
  StepsPending:
    "数据库缺少 {count} 个步骤（{first} 至 {last}）。请运行 aicr db migrate，或启动服务（除非 {=storage.database.migrate} 为 verify，服务会应用这些步骤）",
  DatabaseRightsMissing:
    "Postgres 用户（{=storage.database.postgres.url_env}）缺少创建表、函数和触发器的权限。请让该数据库的管理员执行：{grants}",
  DatabaseOfOtherForm:
    "数据库的结构与本程序创建的不同（{steps} 有差异）：由首个发布版之前的构建创建。未作任何更改。请使用创建它的构建，或配置另一个空数据库（docs/operations.md）",
  DatabaseOfNewerRelease:
    "数据库有本版本未知的迁移 {steps}。请启动创建它们的较新版本，或恢复升级前的备份（docs/operations.md）",
  DatabaseSourceOff: "此节点的配置文件中 {=config_sources.database.enabled} 为 false",
  StoreSilent: "其存储在 {seconds} 秒内没有响应"
} as const satisfies Record<keyof typeof storeReasons, string>
