//! Defines the rules that recognise launchers, in their order. `mod.rs` gives the reason for the
//! order.
//!
//! Threat: see `environment.rs`. A rule reads only variables of its launcher.

use super::description::{Exchange, Launcher, LauncherKind, Numbers};
use super::environment::{Environment, Number, agree, invalid};
use super::slurm;
use crate::error::Error;

type Rule = fn(&Environment<'_>) -> Result<Option<Launcher>, Error>;

/// The rules. The first one that recognises a launcher decides.
pub(super) const IN_ORDER: [Rule; 8] = [
    connected_pmi,
    torchrun,
    pmix,
    open_mpi_without_pmix,
    pmi_without_connection,
    slurm_step,
    world_of_script,
    kubernetes,
];

/// The longest name of a PMIx namespace, in bytes.
const NAMESPACE_MAX: usize = 255;

const USE_MPIEXEC: &str = "start this program by mpiexec directly, or tell ranks a meeting point \
                           by --rendezvous HOST:PORT";
const USE_SRUN: &str = "start it by `srun --mpi=pmix` or `srun --mpi=pmi2` (`srun --mpi=list` \
                        shows which there are), or tell ranks a meeting point by --rendezvous \
                        HOST:PORT";
const USE_RENDEZVOUS: &str = "tell ranks a meeting point by --rendezvous HOST:PORT";

fn connected_pmi(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    let Some(descriptor) = env.number("PMI_FD")? else { return Ok(None) };
    let descriptor = descriptor.value.cast_signed();
    if !env.is_socket(descriptor) {
        return Ok(None);
    }
    let rank = env.companion("PMI_RANK", "PMI_FD")?;
    let size = env.companion("PMI_SIZE", "PMI_FD")?;
    pmi(env, rank, Some(size), Exchange::Pmi { descriptor })
}

fn pmi_without_connection(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    let Some(rank) = env.number("PMI_RANK")? else { return Ok(None) };
    let reason = match env.text("PMI_FD") {
        Some(value) => format!(
            "PMI_FD={} is not an open socket: a program between them has closed it",
            crate::error::shown(value.as_bytes())
        ),
        None => "PMI_FD is not set".to_owned(),
    };
    let size = env.number("PMI_SIZE")?;
    pmi(env, rank, size, Exchange::None { reason, way_out: USE_MPIEXEC })
}

/// Returns the launcher for both rules of PMI-1. Slurm sets `PMI_JOBID`, and Hydra sets
/// `MPI_LOCALRANKID` and `MPI_LOCALNRANKS`.
fn pmi(
    env: &Environment<'_>,
    rank: Number,
    size: Option<Number>,
    exchange: Exchange,
) -> Result<Option<Launcher>, Error> {
    let local_rank = env.number("MPI_LOCALRANKID")?;
    if local_rank.is_none() && env.is_set("PMI_JOBID") && env.is_set("SLURM_STEP_ID") {
        let numbers = Numbers {
            rank,
            size,
            local_rank: slurm::local_rank(env)?,
            local_size: slurm::local_size(env)?,
        };
        return numbers.launcher(LauncherKind::Slurm, exchange);
    }
    let numbers = Numbers { rank, size, local_rank, local_size: env.number("MPI_LOCALNRANKS")? };
    numbers.launcher(LauncherKind::Pmi, exchange)
}

fn torchrun(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    if env.is_set("TORCHELASTIC_RUN_ID") { world_of_script(env) } else { Ok(None) }
}

fn world_of_script(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    // `RANK` alone is too common a name to recognise a launcher.
    if !(env.is_set("RANK") && env.is_set("WORLD_SIZE")) {
        return Ok(None);
    }
    let numbers = Numbers {
        rank: env.companion("RANK", "WORLD_SIZE")?,
        size: env.number("WORLD_SIZE")?,
        local_rank: env.number("LOCAL_RANK")?,
        local_size: env.number("LOCAL_WORLD_SIZE")?,
    };
    let reason = match env.text("MASTER_ADDR") {
        Some(host) => format!(
            "it carries no blobs between ranks, it only says that MASTER_ADDR is {}",
            crate::error::shown(host.as_bytes())
        ),
        None => "it carries no blobs between ranks".to_owned(),
    };
    let way_out = "tell ranks a meeting point by --rendezvous HOST:PORT, with MASTER_ADDR as the \
                   host and a port of its own";
    numbers.launcher(LauncherKind::Torch, Exchange::None { reason, way_out })
}

fn pmix(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    let Some(rank) = env.number("PMIX_RANK")? else { return Ok(None) };
    let Some(namespace) = env.text("PMIX_NAMESPACE") else {
        let (present, missing) = ("PMIX_RANK".to_owned(), "PMIX_NAMESPACE".to_owned());
        return Err(Error::Incomplete { present, missing });
    };
    if namespace.is_empty() || namespace.len() > NAMESPACE_MAX || namespace.contains('\0') {
        let expected = "a name of 1 to 255 bytes";
        return Err(invalid("PMIX_NAMESPACE", namespace.as_bytes(), expected));
    }
    let is_slurm = namespace.starts_with("slurm.pmix.");
    let exchange = Exchange::Pmix { namespace };
    if is_slurm {
        let (local_rank, local_size) = (slurm::local_rank(env)?, slurm::local_size(env)?);
        let numbers = Numbers { rank, size: slurm::size(env)?, local_rank, local_size };
        return numbers.launcher(LauncherKind::Slurm, exchange);
    }
    let Some(world_rank) = env.number("OMPI_COMM_WORLD_RANK")? else {
        let numbers = Numbers { rank, size: None, local_rank: None, local_size: None };
        return numbers.launcher(LauncherKind::Pmix, exchange);
    };
    agree(world_rank, rank)?;
    open_mpi(env, world_rank, exchange)
}

fn open_mpi_without_pmix(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    let Some(rank) = env.number("OMPI_COMM_WORLD_RANK")? else { return Ok(None) };
    let reason = "PMIX_RANK is not set".to_owned();
    let way_out =
        "use Open MPI 4 or later, or tell ranks a meeting point by --rendezvous HOST:PORT";
    open_mpi(env, rank, Exchange::None { reason, way_out })
}

fn open_mpi(
    env: &Environment<'_>,
    rank: Number,
    exchange: Exchange,
) -> Result<Option<Launcher>, Error> {
    let numbers = Numbers {
        rank,
        size: Some(env.companion("OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK")?),
        local_rank: env.number("OMPI_COMM_WORLD_LOCAL_RANK")?,
        local_size: env.number("OMPI_COMM_WORLD_LOCAL_SIZE")?,
    };
    numbers.launcher(LauncherKind::OpenMpi, exchange)
}

fn slurm_step(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    if !env.is_set("SLURM_STEP_ID") {
        return Ok(None);
    }
    let Some(rank) = env.number("SLURM_PROCID")? else { return Ok(None) };
    let (local_rank, local_size) = (slurm::local_rank(env)?, slurm::local_size(env)?);
    let numbers = Numbers { rank, size: slurm::size(env)?, local_rank, local_size };
    let reason = "its step has no PMI".to_owned();
    numbers.launcher(LauncherKind::Slurm, Exchange::None { reason, way_out: USE_SRUN })
}

fn kubernetes(env: &Environment<'_>) -> Result<Option<Launcher>, Error> {
    let Some(rank) = env.number("JOB_COMPLETION_INDEX")? else { return Ok(None) };
    let numbers = Numbers { rank, size: None, local_rank: None, local_size: None };
    let reason = "it tells pods neither their number nor each other's addresses".to_owned();
    numbers.launcher(LauncherKind::Kubernetes, Exchange::None { reason, way_out: USE_RENDEZVOUS })
}
