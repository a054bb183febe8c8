"""`--feature-gates`: which gates there are, and what was said about them.

As k8s.io/component-base `featuregate`: `AllAlpha` and `AllBeta` are said first, then what is said
about a gate itself; a gate that is locked can only be given the value it has. The table is that of
k8s.io/kubernetes `test/compatibility_lifecycle/reference/feature_list.md` before 1.36, and the
gates of 1.36 that change what Celadon does (`SINCE`: no release before knows them). Gates of the
kubelet and of the scheduler are among them, because kube-apiserver knows them, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from celadon.admission.static import GATE
from celadon.kube.go import parse_bool
from celadon.kube.library import DEFAULT_VERSION, parse_version
from celadon.kube.validation import ON_SINCE

ALL_ALPHA: Final = "AllAlpha"
ALL_BETA: Final = "AllBeta"

_ALPHA: Final = """
APIServingWithRoutine AllowUnsafeMalformedObjectDeletion CBORServingAndStorage
CPUManagerPolicyAlphaOptions CSIVolumeHealth ClientsAllowCBOR ClientsPreferCBOR
CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook ComponentFlagz
ComponentStatusz ConstrainedImpersonation ContainerStopSignals CrossNamespaceVolumeDataSource
CustomCPUCFSQuotaPeriod DRAConsumableCapacity DRADeviceBindingConditions DRADeviceTaintRules
DRADeviceTaints DRAExtendedResource DRAListTypeAttributes DRANodeAllocatableResources
DRAPartitionableDevices EventedPLEG GangScheduling GenericWorkload HPAScaleToZero
ImageVolumeWithDigest InPlacePodLevelResourcesVerticalScaling InPlacePodVerticalScalingExclusiveCPUs
InPlacePodVerticalScalingExclusiveMemory KubeletInUserNamespace
ManifestBasedAdmissionControlConfig MemoryQoS MutablePVNodeAffinity
MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs
NodeDeclaredFeatures PodAndContainerStatsFromCRI PodLogsQuerySplitStreams QOSReserved
ReduceDefaultCrashLoopBackOffDecay RestartAllContainersOnContainerExits RuntimeClassInImageCriApi
StorageCapacityScoring StorageVersionAPI TaintTolerationComparisonOperators
TopologyManagerPolicyAlphaOptions UnknownVersionInteroperabilityProxy
UserNamespacesHostNetworkSupport VolumeLimitScaling WindowsCPUAndMemoryAffinity
"""
"""Off."""

_BETA_OFF: Final = """
CRDObservedGenerationTracking ClusterTrustBundle ClusterTrustBundleProjection
ConcurrentWatchObjectDecode CoordinatedLeaderElection DeclarativeValidationTakeover
LocalStorageCapacityIsolationFSQuotaMonitoring MaxUnavailableStatefulSet NodeLogQuery
PodCertificateRequest SELinuxMount SchedulerAsyncAPICalls StorageVersionMigrator
"""

_BETA_ON: Final = """
APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth AtomicFIFO
AuthorizePodWebsocketUpgradeCreatePermission CPUManagerPolicyBetaOptions
ClearingNominatedNodeNameAfterBinding ContainerCheckpoint ContainerRestartRules DRAAdminAccess
DRAPrioritizedList DRAResourceClaimDeviceStatus DRASchedulerFilterTimeout
DeploymentReplicaSetTerminatingReplicas DetectCacheInconsistency DisableCPUQuotaWithExclusiveCPUs
EnvFiles ExternalServiceAccountTokenSigner GracefulNodeShutdown
GracefulNodeShutdownBasedOnPodPriority HPAConfigurableTolerance HostnameOverride ImageVolume
InOrderInformers InOrderInformersBatchProcess KubeletCrashLoopBackOffMax
KubeletEnsureSecretPulledImages KubeletPSI KubeletPodResourcesDynamicResources
KubeletPodResourcesGet KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
ListFromCacheSnapshot MatchLabelKeysInPodTopologySpread
MatchLabelKeysInPodTopologySpreadSelectorMerge MutableCSINodeAllocatableCount
NominatedNodeNameForExpectation OpenAPIEnums OpportunisticBatching PodDeletionCost
PodLevelResources PodReadyToStartContainersCondition PodTopologyLabelsAdmission
PortForwardWebsockets PreventStaticPodAPIReferences ProcMountType RelaxedServiceNameValidation
ReloadKubeletServerCertificateFile RemoteRequestHeaderUID ResourceHealthStatus
ResourceHealthStatusMessage RotateKubeletServerCertificate SELinuxChangePolicy
SELinuxMountReadWriteOncePod SchedulerAsyncPreemption SchedulerPopFromBackoffQ
ServiceAccountNodeAudienceRestriction ServiceCIDRStatusFieldWiping SizeBasedListCostEstimate
StatefulSetSemanticRevisionComparison StorageVersionHash StrictIPCIDRValidation
StructuredAuthenticationConfigurationEgressSelector
StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests
UnauthenticatedHTTP2DOSMitigation UnlockWhileProcessingFIFO UserNamespacesSupport
WatchCacheInitializationPostStartHook WatchList WatchListClient WindowsGracefulNodeShutdown
"""

_STABLE: Final = """
AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests
ChangeContainerStatusOnKubeletRestart DisableNodeKubeProxyVersion GitRepoVolumeDriver
InformerResourceVersion KMSv1 KubeletPodResourcesListUseActivePods
KubeletRegistrationGetOnExistsOnly MutatingAdmissionPolicy SeparateCacheWatchRPC
StorageNamespaceIndex
"""
"""On, and may be switched off still: stable ones, and those that are to go."""

_GOING: Final = "InPlacePodVerticalScalingAllocatedStatus WindowsHostNetwork"
"""Off, and to go."""

_LOCKED: Final = """
APIServerTracing AggregatedDiscoveryRemoveBetaType AllowOverwriteTerminationGracePeriodSeconds
AnonymousAuthConfigurableEndpoints AnyVolumeDataSource AuthorizeNodeWithSelectors
AuthorizeWithSelectors BtreeWatchCache CPUManagerPolicyOptions CRDValidationRatcheting
CSIServiceAccountTokenSecrets ConsistentListFromCache CustomResourceFieldSelectors
DeclarativeValidation DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout
HonorPVReclaimPolicy ImageMaximumGCAge InPlacePodVerticalScaling JobBackoffLimitPerIndex
JobManagedBy JobPodReplacementPolicy JobSuccessPolicy KubeletCgroupDriverFromCRI
KubeletFineGrainedAuthz KubeletTracing LogarithmicScaleDown MatchLabelKeysInPodAffinity
MultiCIDRServiceAllocator NFTablesProxyMode NodeInclusionPolicyInPodTopologySpread NodeSwap
OrderedNamespaceDeletion PodLifecycleSleepAction PodLifecycleSleepActionAllowZero
PodObservedGenerationTracking PodSchedulingReadiness PreferSameTrafficDistribution
RecoverVolumeExpansionFailure RecursiveReadOnlyMounts RelaxedDNSSearchValidation
RelaxedEnvironmentVariableValidation ResilientWatchCacheInitialization RetryGenerateName
SchedulerQueueingHints SeparateTaintEvictionController ServiceAccountTokenJTI
ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation
ServiceAccountTokenPodNodeInfo SidecarContainers StreamingCollectionEncodingToJSON
StreamingCollectionEncodingToProtobuf StructuredAuthenticationConfiguration
SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions VolumeAttributesClass WinDSR
WinOverlay
"""
"""On, for good."""

ALPHA: Final = frozenset(_ALPHA.split())
BETA: Final = frozenset(f"{_BETA_OFF} {_BETA_ON}".split())
LOCKED: Final = frozenset(_LOCKED.split())
ON: Final = frozenset(f"{_BETA_ON} {_STABLE} {_LOCKED}".split())
KNOWN: Final = ALPHA | BETA | ON | frozenset(_GOING.split())
SINCE: Final[Mapping[str, tuple[int, int]]] = {GATE: (1, 36)}
"""The release that brought a gate, where it matters."""


def feature_gates(text: str, version: str = DEFAULT_VERSION) -> Mapping[str, bool]:
    """The gates that are not as by default in a release. Raises ValueError, in upstream's words;
    VersionError."""
    said = dict(_pairs(text))
    release = parse_version(version)
    unknown = {name for name, first in SINCE.items() if release < first}
    early = {name for name, first in ON_SINCE.items() if release < first}
    on, values = ON - early, dict[str, bool]()
    for name, group in ((ALL_ALPHA, ALPHA | early), (ALL_BETA, BETA - early)):
        if name in said:
            values.update(dict.fromkeys(group - unknown, said.pop(name)))
    for name, value in said.items():
        if name not in KNOWN or name in unknown:
            raise ValueError(f"unrecognized feature gate: {name}")
        if name in LOCKED and not value:
            raise ValueError(f"cannot set feature gate {name} to false, feature is locked to true")
        values[name] = value
    return {name: value for name, value in sorted(values.items()) if value != (name in on)}


def _pairs(text: str) -> Iterator[tuple[str, bool]]:
    for pair in filter(None, text.split(",")):
        name, equals, value = (part.strip() for part in pair.partition("="))
        if not equals:
            raise ValueError(f"missing bool value for {name}")
        wanted = parse_bool(value)
        if wanted is None:
            raise ValueError(
                f'invalid value of {name}={value}, err: strconv.ParseBool: parsing "{value}": '
                "invalid syntax"
            )
        yield name, wanted
