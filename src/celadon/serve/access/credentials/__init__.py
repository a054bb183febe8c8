"""What somebody shows to prove who they are.

`token_file` has static tokens, `client_certificates` reads verified certificates, `signed_tokens`
takes tokens apart, `signing_keys` signs and verifies them, `signer_on_demand` with a key that is
read late; `service_account_tokens` says what is in a token of a service account and who shows one.
The cryptography is that of the package of this name: the extra `celadon[serve]`.
"""
