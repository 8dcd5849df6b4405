/** The image, the compose file and the Kubernetes manifests, as far as they can be judged without what runs them. */
import { execFile } from "node:child_process"
import { existsSync, readFileSync, readdirSync } from "node:fs"
import { mkdtemp, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { Result, Schema } from "effect"
import { describe, expect, it, onTestFinished } from "vitest"
import { parse, parseAllDocuments } from "yaml"
import { parseRoles } from "../../src/cli/Roles.ts"
import { roles } from "../../src/domain/Role.ts"
import { clusterProblems } from "../../src/config/checks/Cluster.ts"
import { readText } from "../../src/config/LoadConfig.ts"
import { scriptFlags, serviceFlags, serviceScripts } from "../harness/ServiceFlags.ts"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

/** Variables of ours that no code reads and no configuration example names. */
const unread = (names: ReadonlyArray<string>): ReadonlyArray<string> => {
  const code = ["src", "nats", "actors"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((file) => join(folder, file))
    )
    .filter((file) => file.endsWith(".ts"))
    .map(read)
    .join("\n")
  const configured = read("examples/cluster.yaml")
  const isRead = (name: string) => code.includes(`"${name}"`) || configured.includes(`_env: ${name}`)
  return [...new Set(names)].filter((name) => name.startsWith("SVC_") && !isRead(name))
}

/** Settings that isolate a container. */
const confined = {
  read_only: Schema.Literal(true),
  cap_drop: Schema.Tuple([Schema.Literal("ALL")]),
  security_opt: Schema.Tuple([Schema.Literal("no-new-privileges:true")]),
  pids_limit: Schema.Int,
  mem_limit: Schema.String
}

/** A file of the user. If it is missing, the engine refuses to start the container instead of making a folder of that name. */
const BindMount = Schema.Struct({
  type: Schema.Literal("bind"),
  source: Schema.String,
  target: Schema.String,
  read_only: Schema.Literal(true),
  bind: Schema.Struct({ create_host_path: Schema.Literal(false) })
})

const Service = Schema.Struct({
  ...confined,
  /** Capabilities that the start of the image needs; no others are allowed. */
  cap_add: Schema.optional(
    Schema.Array(Schema.Literals(["SETGID", "SETUID", "CHOWN", "FOWNER", "DAC_OVERRIDE", "NET_BIND_SERVICE"]))
  ),
  user: Schema.optional(Schema.String),
  tmpfs: Schema.optional(Schema.Array(Schema.String)),
  shm_size: Schema.optional(Schema.String),
  image: Schema.String,
  build: Schema.optional(Schema.String),
  profiles: Schema.optional(Schema.Tuple([Schema.Literals(["single", "cluster"])])),
  networks: Schema.optional(Schema.Array(Schema.String)),
  depends_on: Schema.optional(Schema.Array(Schema.String)),
  entrypoint: Schema.optional(Schema.Array(Schema.String)),
  command: Schema.optional(Schema.Array(Schema.String)),
  restart: Schema.Literal("unless-stopped"),
  stop_grace_period: Schema.optional(Schema.String),
  env_file: Schema.optional(Schema.Array(Schema.Struct({ path: Schema.String, required: Schema.Boolean }))),
  environment: Schema.optional(Schema.Record(Schema.String, Schema.String)),
  ports: Schema.optional(Schema.Array(Schema.String)),
  volumes: Schema.Array(Schema.Union([Schema.String, BindMount])),
  healthcheck: Schema.Struct({
    test: Schema.NonEmptyArray(Schema.String),
    interval: Schema.String,
    timeout: Schema.String,
    retries: Schema.Int,
    start_period: Schema.optional(Schema.String)
  })
})
const Compose = Schema.Struct({
  services: Schema.Record(Schema.String, Service),
  networks: Schema.Record(
    Schema.String,
    Schema.NullOr(Schema.Struct({ internal: Schema.optional(Schema.Literal(true)) }))
  ),
  volumes: Schema.Record(Schema.String, Schema.Null)
})

const sections = Schema.decodeUnknownSync(
  Schema.Struct({ services: Schema.Unknown, networks: Schema.Unknown, volumes: Schema.Unknown })
)(parse(read("docker-compose.yml"), { merge: true }))
const compose = Schema.decodeUnknownSync(Compose, { onExcessProperty: "error" })(sections)
const services = Object.entries(compose.services)

/** Named volume or path on the machine. */
const sources = ({ volumes }: (typeof Service)["Type"]): ReadonlyArray<string> =>
  volumes.map((volume) => (typeof volume === "string" ? (volume.split(":")[0] ?? "") : volume.source))

it("deploy/agents/compose.yml adds the socket of docker and its group to the service, and nothing else", () => {
  const { services: added } = parse(read("deploy/agents/compose.yml"))
  expect(added).toEqual({
    aicr: {
      group_add: [expect.stringMatching(/^\$\{DOCKER_GID:\?/)],
      volumes: ["/var/run/docker.sock:/var/run/docker.sock"]
    }
  })
})

describe("docker-compose.yml", () => {
  it("has the service, the servers it can use, and a cluster", () => {
    const named = (profile?: string) =>
      services.filter(([, { profiles }]) => profiles?.[0] === profile).map(([name]) => name)
    expect(named()).toEqual([])
    expect(named("single")).toEqual(["aicr"])
    expect(named("cluster")).toEqual([
      "address",
      "ingress-1",
      "ingress-2",
      "executor-1",
      "executor-2",
      "publisher-1",
      "chat-1",
      "nats-1",
      "nats-2",
      "nats-3",
      "postgres",
      "redis"
    ])
  })

  it("starts the service alone by default, with the variables that it needs", () => {
    const settings = new Map(
      [...read(".env.example").matchAll(/^(\w+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value])
    )
    expect(settings.get("COMPOSE_PROFILES")).toBe("single")
    const { environment, env_file: files } = compose.services["aicr"] ?? {}
    expect([environment, files?.map(({ path }) => path)]).toEqual([undefined, [".env"]])
    // No variable is required to read the file: a profile that does not start needs none.
    expect(read("docker-compose.yml")).not.toContain(":?")
    const used = [...read("docker-compose.yml").matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name]) => name ?? "")
    expect(used.filter((name) => !settings.has(name))).toEqual([])
  })

  it("a node of a cluster has the example of a cluster, which fits several nodes", () => {
    const nodes = services.filter(([, { environment }]) => environment?.["SVC_NATS_URL"] !== undefined)
    for (const [name, { volumes: mounts }] of nodes)
      expect([name, mounts]).toEqual([
        name,
        expect.arrayContaining(["./examples/cluster.yaml:/app/config.yaml:ro", "objects:/app/data"])
      ])
    const text = read("examples/cluster.yaml")
    const names = [...text.matchAll(/_env: (\w+)/g)].map(([, name]) => name ?? "")
    const { snapshot } = readText(text, Object.fromEntries(names.map((name) => [name, "value"])), {
      file: join(root, "examples/cluster.yaml")
    })
    const problems = snapshot === undefined ? [] : clusterProblems(snapshot)
    expect(problems.filter(({ severity }) => severity === "error")).toEqual([])
    // With a budget, a model without a price is never called.
    const catalog = snapshot?.document.llm?.model_catalog?.overrides ?? {}
    const chains = Object.values(snapshot?.document.llm?.model_chain ?? {}).flat()
    expect(chains).not.toEqual([])
    for (const { provider, model } of chains) expect(Object(catalog)[`${provider}/${model}`]?.cost).toBeDefined()
    // Health checks of the containers and of the address call it without a prefix.
    const { port, path_prefix: prefix } = snapshot?.document.server ?? {}
    expect([port, prefix]).toEqual([8080, undefined])
  })

  it.each(["single", "cluster"])("what starts with profile %s publishes each port once", (started) => {
    const published = services
      .filter(([, { profiles }]) => profiles === undefined || profiles[0] === started)
      .flatMap(([, { ports = [] }]) => ports.map((port) => port.split(":")[0]))
    expect(published).toEqual([...new Set(published)])
    expect(published).toContain("8080")
  })

  it("every role is played, by nodes that wait for services that exist", () => {
    const nodes = services.filter(([, { environment }]) => environment?.["SVC_NATS_URL"] !== undefined)
    const played = nodes.flatMap(([, { environment }]) => environment?.["SVC_ROLES"]?.split(",") ?? [])
    expect(played.filter((role) => Result.isFailure(parseRoles(role)))).toEqual([])
    expect(new Set(played)).toEqual(new Set(roles))
    const known = new Set(Object.keys(compose.services))
    expect(services.flatMap(([, { depends_on = [] }]) => depends_on).filter((name) => !known.has(name))).toEqual([])
    const servers = nodes.flatMap(([, { environment }]) => environment?.["SVC_NATS_URL"]?.split(",") ?? [])
    expect(servers.filter((url) => !known.has(new URL(url).hostname))).toEqual([])
  })

  it("mounts files that exist, and names variables that the code reads", () => {
    const files = services.flatMap(([, service]) => sources(service).filter((source) => source.startsWith("./")))
    const own = services.flatMap(([, { volumes }]) =>
      volumes.flatMap((volume) => (typeof volume === "string" ? [] : volume.source))
    )
    expect(own).toEqual(["./config.yaml"])
    expect(files.filter((file) => !own.includes(file) && !existsSync(join(root, file)))).toEqual([])
    const names = services.flatMap(([, { environment = {} }]) => Object.keys(environment))
    expect(unread(names)).toEqual([])
  })

  /** Replaces variables as compose does. */
  const interpolate = (text: string, env: Readonly<Record<string, string>>): string =>
    text.replaceAll(/\$\$|\$\{(\w+):-\}/g, (match, name: string | undefined) =>
      name === undefined ? "$" : (env[name] ?? `unset ${match}`)
    )

  it("builds addresses and strings from the passwords of .env", () => {
    const names = ["POSTGRES_PASSWORD", "REDIS_PASSWORD", "NATS_PASSWORD"]
    const env = Object.fromEntries(names.map((name, index) => [name, `${index}a`.repeat(24)]))
    const values = services.flatMap(([, { environment = {} }]) => Object.values(environment))
    const texts = values.map((value) => interpolate(value, env))
    expect(texts.filter((text) => text.includes("unset"))).toEqual([])
    const urls = texts.flatMap((text) => text.match(/\w+:\/\/[^\s",]+/g) ?? []).map((url) => new URL(url))
    const used = urls.filter(({ password }) => password !== "").map(({ protocol, password }) => protocol + password)
    expect([...new Set(used)].toSorted()).toEqual([
      `nats:${env["NATS_PASSWORD"]}`,
      `postgres:${env["POSTGRES_PASSWORD"]}`,
      `redis:${env["REDIS_PASSWORD"]}`
    ])
    for (const { environment } of ["nats-1", "nats-2", "nats-3"].map((name) => Object(compose.services[name]))) {
      const inJson = (name: string): unknown => JSON.parse(interpolate(String(environment[name]), env))
      expect([inJson("NATS_USER"), inJson("NATS_PASSWORD")]).toEqual(["aicr", env["NATS_PASSWORD"]])
      expect(inJson("NATS_ROUTES")).toHaveLength(3)
    }
    // Commands of shells expand their own variables.
    const commands = services.flatMap(([, { command = [], entrypoint = [], healthcheck }]) => [
      ...command,
      ...entrypoint,
      ...healthcheck.test
    ])
    expect(commands.filter((text) => /(?<!\$)(?:\$\$)*\$(?!\$)/.test(text))).toEqual([])
  })

  it("the address sends a delivery to another ingress if one cannot be connected to, which needs Caddy 2.11.2", () => {
    const [, major, minor] = /^caddy:(\d+)\.(\d+)-/.exec(compose.services["address"]?.image ?? "") ?? []
    expect([Number(major), Number(minor) >= 11]).toEqual([2, true])
    expect(read("deploy/Caddyfile")).toMatch(/lb_try_duration \d+s/)
  })

  it("the address forwards to every ingress", () => {
    const proxied = /reverse_proxy (.*) \{/.exec(read("deploy/Caddyfile"))?.[1]
    const takers = services.filter(([, { environment }]) => environment?.["SVC_ROLES"]?.includes("ingress"))
    expect(proxied?.split(" ")).toEqual(takers.map(([name]) => `${name}:8080`))
  })

  it.each(services)("%s: pinned image, health check by a command, named volumes", (_name, service) => {
    expect(service.image).toMatch(/^[a-z]+:\d+\.?\d*/)
    expect(["CMD", "CMD-SHELL"]).toContain(service.healthcheck.test[0])
    expect(service.volumes.length).toBeGreaterThan(0)
    const named = sources(service).filter((source) => !source.startsWith("./"))
    expect(named).not.toEqual([])
    expect(named.filter((volume) => !(volume in compose.volumes))).toEqual([])
  })

  it("declares no unused volume, and no secret", () => {
    const used = services.flatMap(([, service]) => sources(service))
    expect(Object.keys(compose.volumes).filter((volume) => !used.includes(volume))).toEqual([])
    const values = services.flatMap(([, service]) => Object.entries(service.environment ?? {}))
    const inline = values.filter(([name, value]) => /password|secret|token|key/i.test(name) && !/^"?\$\{/.test(value))
    expect(inline).toEqual([])
    expect(values.filter(([, value]) => /:\/\/[^:/@]*:(?!\$\{)[^@]*@/.test(value))).toEqual([])
  })

  it("gives a node of a cluster the secrets of its roles only", () => {
    const files = (name: string) => (compose.services[name]?.env_file ?? []).map(({ path }) => path)
    expect(files("ingress-1")).toEqual(["secrets/deliveries.env"])
    expect(files("executor-1")).toEqual(["secrets/hosts.env", "secrets/models.env"])
    expect(files("publisher-1")).toEqual(["secrets/hosts.env", "secrets/chat.env"])
    expect(files("chat-1")).toEqual(["secrets/chat.env"])
    const twins = [
      ["ingress-1", "ingress-2"],
      ["executor-1", "executor-2"]
    ] as const
    for (const [one, other] of twins) expect(files(other)).toEqual(files(one))
  })

  it("lets only nodes of a cluster reach its stores, which reach nothing else", () => {
    expect(compose.networks).toEqual({ deliveries: null, outside: null, stores: { internal: true } })
    const networks = services.flatMap(([name, service]) =>
      service.profiles?.[0] === "cluster" ? [[name.replace(/-\d$/, ""), service.networks]] : []
    )
    expect(Object.fromEntries(networks)).toEqual({
      address: ["deliveries"],
      ingress: ["deliveries", "stores"],
      executor: ["outside", "stores"],
      publisher: ["outside", "stores"],
      chat: ["outside", "stores"],
      nats: ["stores"],
      postgres: ["stores"],
      redis: ["stores"]
    })
  })

  it("requires a password for Redis and NATS", () => {
    expect(compose.services["redis"]?.command?.join(" ")).toMatch(/test -n "\$\$REDIS_PASSWORD" \|\| .*requirepass/)
    for (const name of ["nats-1", "nats-2", "nats-3"]) {
      expect(compose.services[name]?.command).toContain("--config=/etc/nats/nats-cluster.conf")
      expect(compose.services[name]?.entrypoint?.join(" ")).toContain(`if [ "$$NATS_PASSWORD" = '""' ]`)
      // On the command line it would drop the authorization of the file.
      expect(compose.services[name]?.command?.filter((flag) => flag.startsWith("--cluster"))).toEqual([])
    }
  })

  it("mounts something at each volume of the image, so that containers leave no volume behind", () => {
    const declared = /^VOLUME (.*)$/m.exec(read("Dockerfile"))?.[1] ?? "[]"
    const folders = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.NonEmptyArray(Schema.String)))(declared)
    for (const [name, { build, tmpfs = [], volumes }] of services) {
      const mounted = [
        ...tmpfs.map((mount) => mount.split(":")[0]),
        ...volumes.map((volume) => (typeof volume === "string" ? volume.split(":")[1] : volume.target))
      ]
      const missing = folders.filter((folder) => !mounted.includes(folder))
      expect([name, build === undefined ? [] : missing]).toEqual([name, []])
    }
  })

  it("gives every node longer to stop than it gives itself", () => {
    const nodes = services.filter(([, { build }]) => build !== undefined)
    expect(nodes.length).toBe(7)
    for (const [name, { stop_grace_period: grace = "0" }] of nodes) {
      expect([name, Number.parseInt(grace, 10) > 15]).toEqual([name, true])
    }
  })
})

describe("deploy/kubernetes", () => {
  const folder = "deploy/kubernetes"
  const documents = (file: string) => parseAllDocuments(read(`${folder}/${file}`)).map((one) => one.toJS())
  const Kustomization = Schema.Struct({
    resources: Schema.Array(Schema.String),
    configMapGenerator: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        files: Schema.optional(Schema.Array(Schema.String)),
        literals: Schema.optional(Schema.Array(Schema.String))
      })
    )
  })
  const kustomization = Schema.decodeUnknownSync(Kustomization)(documents("kustomization.yaml")[0])
  const Node = Schema.Struct({
    kind: Schema.Literal("Deployment"),
    spec: Schema.Struct({
      replicas: Schema.Int,
      template: Schema.Struct({
        spec: Schema.Struct({
          terminationGracePeriodSeconds: Schema.Int,
          automountServiceAccountToken: Schema.Literal(false),
          securityContext: Schema.Struct({
            runAsNonRoot: Schema.Literal(true),
            seccompProfile: Schema.Struct({ type: Schema.Literal("RuntimeDefault") })
          }),
          containers: Schema.Tuple([
            Schema.Struct({
              env: Schema.Array(Schema.Struct({ name: Schema.String, value: Schema.optional(Schema.String) })),
              envFrom: Schema.Array(
                Schema.Struct({
                  secretRef: Schema.optional(Schema.Struct({ name: Schema.String })),
                  configMapRef: Schema.optional(Schema.Struct({ name: Schema.String }))
                })
              ),
              securityContext: Schema.Struct({
                allowPrivilegeEscalation: Schema.Literal(false),
                readOnlyRootFilesystem: Schema.Literal(true),
                capabilities: Schema.Struct({ drop: Schema.Tuple([Schema.Literal("ALL")]) })
              }),
              resources: Schema.Struct({
                limits: Schema.Struct({
                  cpu: Schema.String,
                  memory: Schema.String,
                  "ephemeral-storage": Schema.String
                })
              }),
              startupProbe: Schema.Struct({
                httpGet: Schema.Struct({ path: Schema.Literal("/healthz"), port: Schema.String })
              }),
              readinessProbe: Schema.Struct({
                httpGet: Schema.Struct({ path: Schema.Literal("/readyz"), port: Schema.String })
              }),
              livenessProbe: Schema.Struct({
                httpGet: Schema.Struct({ path: Schema.Literal("/healthz"), port: Schema.String })
              }),
              lifecycle: Schema.Struct({ preStop: Schema.Unknown })
            })
          ])
        })
      })
    })
  })
  const nodes = ["ingress", "executor", "publisher", "chat"].map((name) =>
    Schema.decodeUnknownSync(Node)(documents(`${name}.yaml`)[0])
  )
  const workloads = kustomization.resources.flatMap(documents).filter(({ spec }) => Object(spec).template !== undefined)

  const secrets = Schema.decodeUnknownSync(
    Schema.Array(
      Schema.Struct({
        metadata: Schema.Struct({ name: Schema.String }),
        stringData: Schema.Record(Schema.String, Schema.Literal(""))
      })
    )
  )(documents("secrets.example.yaml"))

  it("is made of files that exist, each a document or more with a kind", () => {
    const files = [
      ...kustomization.resources,
      ...kustomization.configMapGenerator.flatMap(({ files: named = [] }) => named)
    ]
    expect(files.filter((file) => !existsSync(join(root, folder, file)))).toEqual([])
    const HasKind = Schema.Struct({ apiVersion: Schema.String, kind: Schema.String })
    for (const file of kustomization.resources) expect(documents(file).every(Schema.is(HasKind))).toBe(true)
  })

  it("applies every file of its folder, except for the examples of secrets", () => {
    const own = readdirSync(join(root, folder)).filter((name) => name.endsWith(".yaml") && !name.includes("example"))
    const others = ["kustomization.yaml", ...kustomization.configMapGenerator.flatMap(({ files = [] }) => files)]
    expect(own.filter((name) => !others.includes(name)).toSorted()).toEqual(kustomization.resources.toSorted())
  })

  /** Compiles documents as values of the types that Kubernetes publishes, and returns what the compiler reports. */
  const compileAs = async (typed: ReadonlyArray<{ readonly apiVersion: string; readonly kind: string }>) => {
    const directory = await mkdtemp(join(tmpdir(), "aicr-kubernetes-"))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    await symlink(join(root, "node_modules"), join(directory, "node_modules"))
    const module = (apiVersion: string) => {
      const [group = "core", version = group] = apiVersion.includes("/") ? apiVersion.split("/") : ["core", apiVersion]
      return `kubernetes-types/${group.split(".")[0]}/${version}`
    }
    const lines = typed.flatMap((document, at) => [
      `import type { ${document.kind} as Kind${at} } from "${module(document.apiVersion)}"`,
      `export const document${at}: Kind${at} = ${JSON.stringify(document)}`
    ])
    await writeFile(join(directory, "documents.ts"), lines.join("\n"))
    const options = ["--noEmit", "--strict", "--module", "esnext", "--moduleResolution", "bundler", "--types", ""]
    // Without the types of the browser, and without a check of packages, which would take most of the time.
    options.push("--lib", "esnext", "--skipLibCheck")
    return promisify(execFile)(join(root, "node_modules/.bin/tsc"), [...options, "documents.ts"], { cwd: directory })
      .then(() => "")
      .catch((error: { readonly stdout: string }) => error.stdout)
  }

  it("has the fields and types that Kubernetes publishes, and no others", async () => {
    const all = kustomization.resources.concat("secrets.example.yaml").flatMap(documents)
    expect(await compileAs(all)).toBe("")
    const deployment = all.find(({ kind }) => kind === "Deployment")
    expect(await compileAs([{ ...deployment, spec: { ...deployment.spec, replica: 2 } }])).toContain("'\"replica\"'")
  })

  it("has an addition for sandboxes, for the nodes that execute reviews", async () => {
    const addition = parseAllDocuments(read("deploy/kubernetes-sandboxes/sandboxes.yaml")).map((one) => one.toJS())
    expect(await compileAs(addition)).toBe("")
    const { resources, patches } = parse(read("deploy/kubernetes-sandboxes/kustomization.yaml"))
    expect([resources, patches]).toEqual([["../kubernetes", "sandboxes.yaml"], [{ path: "executor.yaml" }]])
    const patch = parse(read("deploy/kubernetes-sandboxes/executor.yaml"))
    const [executor] = documents("executor.yaml")
    expect([patch.kind, patch.metadata.name]).toEqual([executor.kind, executor.metadata.name])
    const accounts = addition.filter(({ kind }) => kind === "ServiceAccount").map(({ metadata }) => metadata)
    expect(accounts).toEqual([
      { name: patch.spec.template.spec.serviceAccountName, namespace: patch.metadata.namespace }
    ])
    const binding = addition.find(({ kind }) => kind === "RoleBinding")
    expect(binding.subjects).toEqual([{ kind: "ServiceAccount", ...accounts[0] }])
    const named = (kind: string) => addition.find((one) => one.kind === kind)
    expect(named("Namespace").metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" })
    expect(named("NetworkPolicy").spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] })
    expect(Object.keys(named("ResourceQuota").spec.hard)).toEqual(["pods", "limits.cpu", "limits.memory"])
  })

  it("every role is played by two nodes that have longer to stop than they give themselves", () => {
    const played = nodes.flatMap(({ spec }) => {
      expect(spec.replicas).toBeGreaterThan(1)
      expect(spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(20)
      const { env } = spec.template.spec.containers[0]
      return env.find(({ name }) => name === "SVC_ROLES")?.value?.split(",") ?? []
    })
    expect(played.toSorted()).toEqual(roles.toSorted())
  })

  it("has an address for the Service, and spreads the pods of each kind", () => {
    const Ingress = Schema.Struct({
      kind: Schema.Literal("Ingress"),
      spec: Schema.Struct({
        tls: Schema.NonEmptyArray(Schema.Unknown),
        rules: Schema.Tuple([Schema.Struct({ http: Schema.Unknown })])
      })
    })
    const ingress = Schema.decodeUnknownSync(Ingress)(documents("address.yaml")[0])
    expect(ingress.spec.rules[0].http).toMatchObject({
      paths: [{ path: "/", backend: { service: { name: "aicr", port: { name: "http" } } } }]
    })
    expect(documents("ingress.yaml")[1]).toMatchObject({
      kind: "Service",
      metadata: { name: "aicr" },
      spec: { ports: [{ name: "http" }] }
    })
    for (const name of ["ingress", "executor", "publisher", "chat"]) {
      const labelSelector = { matchLabels: { app: "aicr", node: name } }
      expect(documents(`${name}.yaml`)[0].spec.template.spec.topologySpreadConstraints).toMatchObject([
        { topologyKey: "kubernetes.io/hostname", labelSelector },
        { topologyKey: "topology.kubernetes.io/zone", labelSelector }
      ])
    }
  })

  it("serves metrics on the port that pods and policies name", () => {
    const port = parse(read(`${folder}/config.yaml`)).server.metrics_port
    for (const name of ["ingress", "executor", "publisher", "chat"]) {
      const { metadata, spec } = documents(`${name}.yaml`)[0].spec.template
      expect(metadata.annotations["prometheus.io/port"]).toBe(String(port))
      expect(spec.containers[0].ports).toContainEqual({ name: "metrics", containerPort: port })
    }
    expect(JSON.stringify(documents("network.yaml").find(({ metadata }) => metadata.name === "metrics"))).toContain(
      '"port":"metrics"'
    )
  })

  it("names variables that the code reads, and takes secrets by reference", () => {
    const settings = kustomization.configMapGenerator.flatMap(({ literals = [] }) =>
      literals.map((one) => one.split("=")[0] ?? "")
    )
    const names = nodes.flatMap(({ spec }) => spec.template.spec.containers[0].env.map(({ name }) => name))
    expect(unread([...settings, ...names])).toEqual([])
    const config = read(`${folder}/config.yaml`)
    const named = [...config.matchAll(/\w+_env: (\w+)/g)].map(([, name]) => name ?? "")
    const held = secrets
      .filter(({ metadata: { name } }) => name !== "nats")
      .flatMap(({ stringData }) => Object.keys(stringData))
    expect(held.toSorted()).toEqual([...new Set([...named, "SVC_NATS_USER", "SVC_NATS_PASSWORD"])].toSorted())
  })

  it("gives a node the secrets of its roles only, and each to some node", () => {
    const perNode = nodes.map(({ spec }) =>
      spec.template.spec.containers[0].envFrom.flatMap(({ secretRef }) => secretRef?.name ?? [])
    )
    expect(perNode).toEqual([
      ["aicr-stores", "aicr-deliveries"],
      ["aicr-stores", "aicr-hosts", "aicr-models"],
      ["aicr-stores", "aicr-hosts", "aicr-chat"],
      ["aicr-stores", "aicr-chat"]
    ])
    const names = secrets.map(({ metadata: { name } }) => name)
    expect(new Set([...perNode.flat(), "nats"])).toEqual(new Set(names))
  })

  it("confines every pod, also those of NATS", () => {
    expect(workloads.map(({ metadata }) => metadata.name)).toEqual(["nats", "ingress", "executor", "publisher", "chat"])
    for (const { spec } of workloads) {
      const pod = spec.template.spec
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: "RuntimeDefault" } }
      })
      for (const host of ["hostNetwork", "hostPID", "hostIPC", "initContainers"]) expect(pod[host]).toBe(undefined)
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ["ALL"] }
        })
        expect(Object.keys(container.resources.limits)).toEqual(["cpu", "memory", "ephemeral-storage"])
      }
      expect(JSON.stringify(pod)).not.toContain("hostPath")
    }
    const [namespace] = documents("namespace.yaml")
    expect(namespace.metadata.labels).toMatchObject({ "pod-security.kubernetes.io/enforce": "restricted" })
  })

  it("lets nothing pass between pods that no policy names", () => {
    const policies = documents("network.yaml").filter(({ kind }) => kind === "NetworkPolicy")
    const portsOf = (rules: ReadonlyArray<{ readonly ports: ReadonlyArray<{ readonly port: unknown }> }> = []) =>
      rules.flatMap(({ ports }) => ports.map(({ port }) => port))
    const passing = policies.map(({ metadata, spec }) => [
      metadata.name,
      spec.podSelector.matchLabels,
      { in: portsOf(spec.ingress), out: portsOf(spec.egress) }
    ])
    const aicr = { app: "aicr" }
    expect(passing).toEqual([
      ["nothing-by-default", undefined, { in: [], out: [] }],
      ["names", undefined, { in: [], out: [53, 53] }],
      ["deliveries", { ...aicr, node: "ingress" }, { in: ["http"], out: [] }],
      ["metrics", aicr, { in: ["metrics"], out: [] }],
      ["stores", aicr, { in: [], out: [4222, 5432, 6379] }],
      ["hosts-and-models", aicr, { in: [], out: [443, 80, 22] }],
      ["bus", { app: "nats" }, { in: ["client", "cluster"], out: [6222] }]
    ])
    expect(policies[0].spec).toEqual({ podSelector: {}, policyTypes: ["Ingress", "Egress"] })
    const named = (name: string) => policies.find(({ metadata }) => metadata.name === name).spec
    expect(named("hosts-and-models").podSelector.matchExpressions).toEqual([
      { key: "node", operator: "In", values: ["executor", "publisher", "chat"] }
    ])
    expect(JSON.stringify(named("hosts-and-models").egress[0].to)).toContain("169.254.0.0/16")
    expect(named("bus").ingress.map((rule: { readonly from: unknown }) => rule.from)).toEqual([
      [{ podSelector: { matchLabels: aicr } }],
      [{ podSelector: { matchLabels: { app: "nats" } } }]
    ])
    // A selector that matches no pod would protect none.
    const labels = workloads.map(({ spec }) => spec.template.metadata.labels)
    for (const { spec } of policies)
      expect(labels).toEqual(expect.arrayContaining([expect.objectContaining(spec.podSelector.matchLabels ?? {})]))
  })

  it("its configuration is one for several nodes", () => {
    const names = [...read(`${folder}/config.yaml`).matchAll(/_env: (\w+)/g)].map(([, name]) => name ?? "")
    const { issues, snapshot } = readText(
      read(`${folder}/config.yaml`),
      Object.fromEntries(names.map((name) => [name, "value"]))
    )
    expect(issues.filter(({ severity }) => severity === "error")).toEqual([])
    const problems = snapshot === undefined ? [] : clusterProblems(snapshot)
    expect([snapshot === undefined, problems.filter(({ severity }) => severity === "error")]).toEqual([false, []])
  })
})

describe("Dockerfile", () => {
  const lines = read("Dockerfile")
    .replace(/\\\n/g, " ")
    .split("\n")
    .filter((line) => /^[A-Z]+ /.test(line))
  const copied = lines
    .filter((line) => line.startsWith("COPY ") && !line.includes("--from="))
    .flatMap((line) => line.split(/\s+/).slice(1, -1))

  it("copies files that exist and that .dockerignore includes", () => {
    expect(copied).not.toEqual([])
    expect(copied.filter((path) => !existsSync(join(root, path)))).toEqual([])
    const kept = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1))
    expect([...new Set(copied)].toSorted()).toEqual(kept.toSorted())
  })

  it("has the command aicr of the documents", () => {
    expect(copied).toContain("bin")
    const link = lines.find((line) => line.includes("/usr/local/bin/aicr"))
    expect(link).toContain("ln -s /app/bin/aicr /usr/local/bin/aicr")
    // The image has the Node of its base, not the package of one.
    expect(read("bin/aicr")).toContain("node=$(command -v node)")
  })

  it("copies every folder with code that runs in the service", () => {
    const holdsCode = (folder: string): boolean =>
      existsSync(join(root, folder)) && readdirSync(join(root, folder)).some((name) => name !== ".gitkeep")
    expect(
      ["actors", "demo", "eval", "nats", "src"].filter((folder) => holdsCode(folder) && !copied.includes(folder))
    ).toEqual([])
  })

  it.each(["Dockerfile", "deploy/agents/Dockerfile"])("%s installs without scripts: the sources come later", (file) => {
    const installs = read(file)
      .split("\n")
      .filter((line) => line.startsWith("RUN npm ci"))
    expect(installs).not.toEqual([])
    for (const line of installs) expect(line).toContain("--ignore-scripts")
  })

  it("runs the service as an ordinary user, under an init, on the Node it is tested with", () => {
    expect(lines.findLastIndex((line) => line.startsWith("USER node"))).toBeGreaterThan(
      lines.findLastIndex((line) => line.startsWith("RUN"))
    )
    expect(lines.filter((line) => line.startsWith("FROM ")).every((line) => line.includes("node:24-slim"))).toBe(true)
    expect(read("package.json")).toMatch(/"node": "24\./)
    const entry = lines.find((line) => line.startsWith("ENTRYPOINT"))?.slice("ENTRYPOINT ".length)
    const words = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.String)))(entry)
    expect(existsSync(join(root, words.at(-1) ?? ""))).toBe(true)
    // Without an init process, ended processes of agents would remain.
    expect(words.slice(0, 2)).toEqual(["tini", "--"])
    expect(words.slice(words.indexOf("node") + 1, -1)).toEqual(serviceFlags)
    expect(lines.some((line) => line.startsWith("HEALTHCHECK") && line.includes("/healthz"))).toBe(true)
  })
})

describe("the flags of node", () => {
  it("are the same for all scripts that run the program", () => {
    for (const name of serviceScripts) expect([name, scriptFlags(name)]).toEqual([name, serviceFlags])
  })

  const printed = async (program: string): Promise<number> => {
    const node = join(root, "node_modules/.bin/node")
    return Number((await promisify(execFile)(node, [...serviceFlags, "--eval", program])).stdout)
  }

  it("limit the memory for new objects to 32 MiB", async () => {
    const program = `
      const kept = []
      for (let at = 0; at < 10_000_000; at++) kept[at % 200_000] = { at }
      const { physical_space_size } = require("node:v8").getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space")
      console.log(physical_space_size / 1_048_576)`
    expect(await printed(program)).toBeLessThanOrEqual(32)
  })

  it("limit the memory for objects that are no longer in use, once the service has started", async () => {
    // About 85 MiB are in use, and replaced ten times. The heap has 240 to 300 MiB then, and without the flag 390 to 480.
    const program = `
      require(${JSON.stringify(join(root, "src/app/HeapGrowth.ts"))}).limitHeapGrowth()
      const { getHeapStatistics } = require("node:v8")
      const kept = []
      let most = 0
      for (let at = 0; at < 8_000_000; at++) {
        kept[at % 800_000] = { at, text: [at] }
        if (at % 50_000 === 0) most = Math.max(most, getHeapStatistics().total_heap_size)
      }
      console.log(most / 1_048_576)`
    expect(await printed(program)).toBeLessThan(340)
  })
})
