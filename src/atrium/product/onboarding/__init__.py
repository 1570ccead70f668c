"""Onboarding: a public sign-up form, proofs of work, and the people who signed up.

Owns tables `onboarding_secrets`, `onboarding_drafts`, `onboarding_versions`, `onboarding_assets`, `onboarding_proofs`, `prospects`,
`onboarding_days`. Everything belongs to the instance's first company. An *experience* is the form with its copy and look; a *prospect*
is a person who signed up; the *gate* notes signals, the *judge* is a model that advises, and a person decides.
"""
