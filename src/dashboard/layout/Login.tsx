/** The login: instead of the pages, or over them when the session has expired. The address stays, so that a link works after the login. */
import { useEffect, useState } from "react"
import { call } from "../client/Call.ts"
import { Problem } from "../client/Problem.ts"
import { queryClient } from "../client/Queries.ts"
import { endSession, linkFailure, openSession } from "../client/Session.ts"
import { beginSignIn, ForeignLogin } from "../client/SignIn.ts"
import { errorDetail } from "../text/DescribeError.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { t } from "../text/T.ts"
import { LanguageSelect, ThemeSelect } from "./Preferences.tsx"

const messageOf = (error: unknown): string => {
  if (error instanceof ForeignLogin) return t("login.foreign")
  if (!(error instanceof Problem)) return errorDetail(error)
  if (error.code === "invalid_credentials") return t("login.wrong")
  if (error.code === "invalid_link") return t("login.link")
  if (error.code === "login_throttled")
    return t("login.throttled", { seconds: String(error.body["retry_after"] ?? "?") })
  return errorDetail(error)
}

/** Login at the provider of the organization, where one is configured. */
const ProviderLogin = ({ onFailure }: { readonly onFailure: (message: string) => void }) => {
  const [isOffered, setOffered] = useState(false)
  const [isPending, setPending] = useState(false)
  useEffect(() => {
    call("GET /login/methods", {}).then(
      ({ oidc }) => setOffered(oidc),
      () => setOffered(false)
    )
  }, [])
  const begin = async () => {
    setPending(true)
    try {
      await beginSignIn()
    } catch (error) {
      onFailure(messageOf(error))
      setPending(false)
    }
  }
  return isOffered ? (
    <button type="button" disabled={isPending} onClick={() => void begin()}>
      {t("login.provider")}
    </button>
  ) : null
}

const LoginForm = ({ expired }: { readonly expired?: string | undefined }) => {
  const [username, setUsername] = useState(expired ?? "")
  const [password, setPassword] = useState("")
  const [failure, setFailure] = useState(() => (linkFailure() === undefined ? undefined : messageOf(linkFailure())))
  const [isPending, setPending] = useState(false)
  const submit = async () => {
    setPending(true)
    setFailure(undefined)
    try {
      const { token } = await call("POST /login", { payload: { username, password } })
      if (expired === undefined) queryClient.clear()
      openSession({ token, username })
    } catch (error) {
      setFailure(messageOf(error))
      setPending(false)
    }
  }
  return (
    <form
      className="login-form"
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <label>
        <span>{t("login.username")}</span>
        <input
          value={username}
          onChange={(event) => setUsername(event.target.value)}
          autoComplete="username"
          readOnly={expired !== undefined}
          required
        />
      </label>
      <label>
        <span>{t("login.password")}</span>
        <input
          type="password"
          value={password}
          onChange={(event) => setPassword(event.target.value)}
          autoComplete="current-password"
          required
        />
      </label>
      {failure === undefined ? null : (
        <p className="form-error" role="alert">
          {failure}
        </p>
      )}
      <div className="actions">
        {expired === undefined ? null : (
          <button type="button" onClick={endSession}>
            {t("login.leave")}
          </button>
        )}
        <ProviderLogin onFailure={setFailure} />
        <button type="submit" className="primary" disabled={isPending}>
          {t("login.submit")}
        </button>
      </div>
    </form>
  )
}

export const Login = ({ expired }: { readonly expired?: string }) =>
  expired === undefined ? (
    <main className="login">
      <div className="login-card">
        <h1>
          <span className="mark" aria-hidden="true" />
          aicr
        </h1>
        <p className="quiet">{t("login.intro")}</p>
        <LoginForm />
      </div>
      <div className="login-foot">
        <LanguageSelect />
        <ThemeSelect />
      </div>
    </main>
  ) : (
    <Dialog title={t("login.expired")}>
      <p className="quiet">{t("login.expired.help")}</p>
      <LoginForm expired={expired} />
    </Dialog>
  )
