/** Tokens of programs, such as coding agents: creating one, which shows its text once, and revoking it. */
import { useState } from "react"
import type { Item, Output } from "../client/Endpoints.ts"
import { useApi } from "../client/Queries.ts"
import { Confirm, Dialog } from "../parts/Dialog.tsx"
import { Copy } from "../parts/Facts.tsx"
import { useNoticedAction } from "../parts/NoticedAction.ts"
import { Page } from "../parts/Page.tsx"
import { Empty, Loaded } from "../parts/Panel.tsx"
import { Status } from "../parts/Status.tsx"
import { TablePanel } from "../parts/TablePanel.tsx"
import { Time } from "../parts/Time.tsx"
import { t } from "../text/T.ts"
import "../text/PagedTexts.ts"

type Token = Item<"GET /tokens">
type Created = Output<"POST /tokens">

const scopes = ["read", "dispute"] as const
const refreshed = ["GET /tokens"] as const
const defaultDays = "90"
const roles = ["viewer", "operator", "editor", "administrator"] as const

const stateOf = ({ expires_at: expires, revoked_at: revoked }: Token, now: number) =>
  revoked !== undefined ? "revoked" : Date.parse(expires) <= now ? "expired" : "valid"

const parseRepositories = (text: string): ReadonlyArray<string> => text.split(/[\s,]+/).filter((name) => name !== "")

interface CreateProps {
  readonly onCreated: (created: Created) => void
  readonly onClose: () => void
}

const CreateDialog = ({ onClose, onCreated }: CreateProps) => {
  const [name, setName] = useState("")
  const [chosen, setChosen] = useState<ReadonlyArray<(typeof scopes)[number]>>(["read"])
  const [role, setRole] = useState<(typeof roles)[number]>()
  const [repositories, setRepositories] = useState("")
  const [days, setDays] = useState(defaultDays)
  const create = useNoticedAction("POST /tokens", refreshed)
  const confirm = () => {
    const named = parseRepositories(repositories)
    const payload = {
      name,
      scopes: chosen,
      expires_days: Number(days),
      ...(named.length === 0 ? {} : { repositories: named }),
      ...(role === undefined ? {} : { role })
    }
    create.run({ payload }, (created) => t("tokens.created", { name: created.name }), { onSuccess: onCreated })
  }
  return (
    <Confirm
      title={t("tokens.create")}
      label={t("tokens.create")}
      isPending={create.isPending}
      isDisabled={name === "" || (chosen.length === 0 && role === undefined) || days === ""}
      onConfirm={confirm}
      onClose={onClose}
    >
      <label>
        <span>{t("tokens.name")}</span>
        <input value={name} maxLength={64} onChange={(event) => setName(event.target.value)} />
      </label>
      {scopes.map((scope) => (
        <label key={scope} className="check">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              setChosen(target.checked ? [...chosen, scope] : chosen.filter((other) => other !== scope))
            }
          />
          <span>{t(`tokens.scope.${scope}`)}</span>
        </label>
      ))}
      <label>
        <span>{t("tokens.role")}</span>
        <select value={role ?? ""} onChange={({ target }) => setRole(roles.find((one) => one === target.value))}>
          <option value="">{t("tokens.role.none")}</option>
          {roles.map((one) => (
            <option key={one} value={one}>
              {t(`access.${one}`)}
            </option>
          ))}
        </select>
      </label>
      <label>
        <span>{t("tokens.repositories")}</span>
        <input
          value={repositories}
          placeholder="main:acme/app"
          onChange={(event) => setRepositories(event.target.value)}
        />
      </label>
      <label>
        <span>{t("tokens.days")}</span>
        <input type="number" min={1} max={366} value={days} onChange={(event) => setDays(event.target.value)} />
      </label>
    </Confirm>
  )
}

const CreatedDialog = ({ created, onClose }: { readonly created: Created; readonly onClose: () => void }) => (
  <Dialog title={t("tokens.created", { name: created.name })}>
    <p>{t("tokens.once")}</p>
    <Copy value={created.token} />
    <footer className="actions">
      <button type="button" className="primary" onClick={onClose}>
        {t("action.close")}
      </button>
    </footer>
  </Dialog>
)

const RevokeDialog = ({ onClose, token }: { readonly token: Token; readonly onClose: () => void }) => {
  const revoke = useNoticedAction("POST /tokens/:id/revoke", refreshed)
  const confirm = () =>
    revoke.run({ params: { id: token.id } }, ({ name }) => t("tokens.revoked", { name }), { onSettled: onClose })
  return (
    <Confirm
      title={t("tokens.revoke")}
      label={t("tokens.revoke")}
      isDangerous
      isPending={revoke.isPending}
      onConfirm={confirm}
      onClose={onClose}
    >
      <p>{t("tokens.revoke.help", { name: token.name })}</p>
    </Confirm>
  )
}

interface RowProps {
  readonly token: Token
  readonly now: number
  readonly onRevoke: () => void
}

const TokenRow = ({ now, onRevoke, token }: RowProps) => {
  const state = stateOf(token, now)
  return (
    <tr>
      <td>
        <strong>{token.name}</strong>
      </td>
      <td>
        <Status group="token" value={state} tone={state === "valid" ? "good" : "quiet"} />
      </td>
      <td className="mono">{token.scopes.length === 0 ? "–" : token.scopes.join(", ")}</td>
      <td>{token.role === undefined ? "–" : t(`access.${token.role}`)}</td>
      <td className="break">
        {token.repositories.length === 0 ? t("tokens.everywhere") : token.repositories.join(", ")}
      </td>
      <td>{token.created_by}</td>
      <td className="end">{token.last_used_at === undefined ? "–" : <Time at={token.last_used_at} />}</td>
      <td className="end">{token.revoked_at === undefined ? <Time at={token.expires_at} /> : "–"}</td>
      <td className="end">
        {state === "valid" ? (
          <button type="button" className="small" onClick={onRevoke}>
            {t("tokens.revoke")}
            <span className="hidden"> {token.name}</span>
          </button>
        ) : null}
      </td>
    </tr>
  )
}

const refreshedSessions = ["GET /sessions"] as const

/** Sessions of people, which may be ended one by one. */
const Sessions = () => {
  const query = useApi("GET /sessions", {})
  const end = useNoticedAction("POST /sessions/:id/revoke", refreshedSessions)
  return (
    <Loaded query={query}>
      {({ items }) => (
        <TablePanel
          title={t("sessions.title", { count: items.length })}
          label={t("sessions.label")}
          heads={[
            { label: t("sessions.user") },
            { label: t("sessions.role") },
            { label: t("sessions.since"), end: true },
            { label: t("tokens.column.expires"), end: true },
            { label: t("column.actions"), hidesLabel: true }
          ]}
          empty={null}
          rows={items.map(({ created_at: since, current, expires_at: until, id, role, username }) => (
            <tr key={id}>
              <td className="break">{username}</td>
              <td>{t(`access.${role}`)}</td>
              <td className="end">
                <Time at={since} />
              </td>
              <td className="end">
                <Time at={until} />
              </td>
              <td className="end">
                {current ? (
                  t("sessions.current")
                ) : (
                  <button
                    type="button"
                    className="small"
                    disabled={end.isPending}
                    onClick={() => end.run({ params: { id } }, () => t("sessions.ended", { name: username }))}
                  >
                    {t("sessions.end")}
                    <span className="hidden"> {username}</span>
                  </button>
                )}
              </td>
            </tr>
          ))}
        />
      )}
    </Loaded>
  )
}

export const Tokens = () => {
  const query = useApi("GET /tokens", {})
  const [now] = useState(() => Date.now())
  const [isCreating, setCreating] = useState(false)
  const [created, setCreated] = useState<Created>()
  const [revoked, setRevoked] = useState<Token>()
  const show = (token: Created) => {
    setCreating(false)
    setCreated(token)
  }
  return (
    <Page
      title={t("page.tokens")}
      note={t("tokens.note")}
      actions={
        <button type="button" className="primary" onClick={() => setCreating(true)}>
          {t("tokens.create")}
        </button>
      }
    >
      <Loaded query={query}>
        {({ items }) => (
          <TablePanel
            title={t("tokens.count", { count: items.length })}
            label={t("page.tokens")}
            heads={[
              { label: t("tokens.column.name") },
              { label: t("column.status") },
              { label: t("tokens.column.scopes") },
              { label: t("tokens.column.role") },
              { label: t("column.repository") },
              { label: t("tokens.column.creator") },
              { label: t("tokens.column.used"), end: true },
              { label: t("tokens.column.expires"), end: true },
              { label: t("column.actions"), hidesLabel: true }
            ]}
            empty={<Empty title={t("tokens.empty")} />}
            rows={items.map((token) => (
              <TokenRow key={token.id} token={token} now={now} onRevoke={() => setRevoked(token)} />
            ))}
          />
        )}
      </Loaded>
      <Sessions />
      {isCreating ? <CreateDialog onCreated={show} onClose={() => setCreating(false)} /> : null}
      {created === undefined ? null : <CreatedDialog created={created} onClose={() => setCreated(undefined)} />}
      {revoked === undefined ? null : <RevokeDialog token={revoked} onClose={() => setRevoked(undefined)} />}
    </Page>
  )
}
